//! Nothing is in a state that a job would have to end.

use super::Scene;
use crate::shares::world::World;

/// Of shares and their instances. An operator's word (`error`, `available`) is none of them.
const SHARE_RESTS: &[&str] = &["available", "error", "error_deleting", "extending_error", "shrinking_error", "reverting_error"];
const SNAPSHOT_RESTS: &[&str] = &["available", "error", "error_deleting"];
const RULE_RESTS: &[&str] = &["active", "error"];
const SERVER_RESTS: &[&str] = &["active", "error"];

const HOLDS: &str = "SELECT order_key || ' by ' || holder FROM job_holds";
const RUNS: &str = "SELECT id || ' on ' || backend FROM ensure_runs WHERE ended_at IS NULL";

impl Scene {
    pub(super) async fn rests(&self, world: &World, broken: &mut Vec<String>) {
        let rows = &self.rows;
        for s in &rows.shares {
            if !SHARE_RESTS.contains(&s.status.as_str()) || !s.resize_to.is_empty() {
                broken.push(format!("[in-motion] share {} is {} {}", s.id, s.status, s.resize_to));
            }
            if s.instance_status != s.status {
                broken.push(format!("[wrong-status] share {} is {}, its instance {} {}", s.id, s.status, s.instance, s.instance_status));
            }
        }
        for s in &rows.snapshots {
            if !SNAPSHOT_RESTS.contains(&s.status.as_str()) {
                broken.push(format!("[in-motion] snapshot {} is {}", s.id, s.status));
            }
            if s.instance_status != s.status {
                broken.push(format!("[wrong-status] snapshot {} is {}, its instance {} {}", s.id, s.status, s.instance, s.instance_status));
            }
        }
        for r in rows.rules.iter().filter(|r| !RULE_RESTS.contains(&r.state.as_str())) {
            broken.push(format!("[in-motion] rule {} of {} is {}", r.id, r.of, r.state));
        }
        for s in rows.servers.iter().filter(|s| !SERVER_RESTS.contains(&s.status.as_str())) {
            broken.push(format!("[in-motion] server {} is {}", s.id, s.status));
        }
        for n in rows.networks.iter().filter(|n| n.status != "active") {
            broken.push(format!("[in-motion] network {} is {}", n.id, n.status));
        }
        broken.extend(world.database.texts(HOLDS).await.into_iter().map(|row| format!("[in-motion] held: {row}")));
        broken.extend(world.database.texts(RUNS).await.into_iter().map(|row| format!("[in-motion] ensure {row}")));
        for service in world.all("/services?ensuring=true", "services").await {
            broken.push(format!("[in-motion] {} is ensuring", service["host"]));
        }
    }
}
