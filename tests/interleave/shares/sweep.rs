//! Idle servers go by themselves.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;
use stowage::api::route::Api;
use support::Persona;

use super::world::World;

/// The duty may be another process's, which is dead by now.
const PATIENCE: Duration = Duration::from_secs(20);

const IDLE: &str = "SELECT id || ' on ' || backend FROM share_servers WHERE status = 'active' AND is_auto_deletable \
                    AND NOT EXISTS (SELECT 1 FROM share_instances i WHERE i.share_server_id = share_servers.id)";

/// Has idle servers looked for until there is none; those that stay.
pub async fn sweep(world: &World) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left = world.database.texts(IDLE).await;
        if left.is_empty() {
            return Vec::new();
        }
        if began.elapsed() > PATIENCE {
            return left.into_iter().map(|row| format!("[idle-server] {row} has no share, and stays")).collect();
        }
        for service in world.clients(Api::Admin, Persona::Admin) {
            // one of them may be dead
            let _ = service.try_send(Method::POST, "/loops/idle-servers/run", Some(json!({}))).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
