//! What users are told: what there is, how much they use, and why something ended badly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Scene;
use crate::shares::{book::Book, world::World};

fn ids(list: &[Value]) -> BTreeSet<String> {
    list.iter().map(|v| v["id"].as_str().unwrap_or_default().to_owned()).collect()
}

impl Scene {
    /// Lists say the same as the rows.
    pub(super) async fn lists(&self, world: &World, broken: &mut Vec<String>) {
        let rows = &self.rows;
        for (what, listed, there) in [
            ("shares", ids(&world.shares().await), rows.shares.iter().map(|s| s.id.clone()).collect::<BTreeSet<_>>()),
            ("snapshots", ids(&world.snapshots().await), rows.snapshots.iter().map(|s| s.id.clone()).collect()),
            ("servers", ids(&world.servers().await), rows.servers.iter().map(|s| s.id.clone()).collect()),
            ("networks", ids(&world.networks().await), rows.networks.iter().filter(|n| !n.hidden).map(|n| n.id.clone()).collect()),
        ] {
            if listed != there {
                broken.push(format!("[wrong-list] {what} {listed:?} are listed, and there are {there:?}"));
            }
        }
    }

    /// The usage that the API shows is what the rows add up to. One project makes everything.
    pub(super) async fn usage(&self, world: &World, broken: &mut Vec<String>) {
        let rows = &self.rows;
        let networks = rows.networks.iter().filter(|n| !n.hidden).count() as u64;
        let counted: BTreeMap<&str, u64> = [
            ("shares", rows.shares.len() as u64),
            ("gigabytes", rows.shares.iter().map(|s| s.gib).sum()),
            ("snapshots", rows.snapshots.len() as u64),
            ("snapshot_gigabytes", rows.snapshots.iter().map(|s| s.gib).sum()),
            ("share_networks", networks),
        ]
        .into();
        let project = world.project();
        let shown = world.admin().get(&format!("/quota-sets/{project}/detail")).await.expect(200)["quota_set"].clone();
        for (key, counted) in counted {
            let figure = &shown[key];
            if figure["in_use"] != counted || figure["reserved"] != 0 {
                broken.push(format!("[wrong-usage] {key} of {project} is {figure}, and there are {counted}"));
            }
        }
    }

    /// Whoever owns what ended badly was told why.
    pub(super) async fn reasons(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        // what an operator called an error has no reason
        let shares = self.rows.shares.iter().filter(|s| !book.was_told(&s.id)).map(|s| (&s.id, &s.status));
        for (id, status) in shares.chain(self.rows.snapshots.iter().map(|s| (&s.id, &s.status))) {
            if !status.contains("error") {
                continue;
            }
            let told = world.member().get(&format!("/messages?resource_id={id}")).await.expect(200)["messages"].clone();
            let says_why =
                |m: &Value| m["user_message"].as_str().and_then(|t| t.split_once(':')).is_some_and(|(_, why)| !why.trim().is_empty());
            if !told.as_array().unwrap().iter().any(says_why) {
                broken.push(format!("[no-reason] {id} is {status}, and nobody was told why: {told}"));
            }
        }
    }
}
