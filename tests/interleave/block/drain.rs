//! The end of a plan: everything can be deleted, with what the API offers, and nothing is left behind anywhere.

use serde_json::json;
use support::{Client, Persona};

use super::world::World;
use crate::quiet::quiet;

/// A first failed try may still be due to what went wrong before.
const TRIES: usize = 3;

/// Deletes everything; what is left, or would not go.
pub async fn drain(world: &World) -> Vec<String> {
    let (service, admin) = (world.client(Persona::Service), world.admin());
    let mut broken = Vec::new();
    withdraw_all(&admin, &mut broken).await;
    for attempt in 1..=TRIES {
        broken.clear();
        attachments(world, &service, &mut broken).await;
        delete_all(world, &admin, "snapshots", &mut broken).await;
        delete_all(world, &admin, "volumes", &mut broken).await;
        if broken.is_empty() || attempt == TRIES {
            break;
        }
    }
    for (array, name) in world.arrays.iter().zip(["a", "b"]) {
        for (kind, objects) in array.control.objects().await.unwrap() {
            broken.extend(objects.into_keys().map(|id| format!("[left-behind] array {name} holds {kind} {id}")));
        }
    }
    for (table, sql) in [
        ("volumes", "SELECT id || ' ' || status FROM volumes"),
        ("attachments", "SELECT id || ' of ' || volume_id FROM attachments"),
        ("snapshots", "SELECT id || ' of ' || volume_id FROM snapshots"),
        ("transfers", "SELECT id || ' of ' || volume_id FROM transfers"),
        ("allocations", "SELECT resource_id || ' on ' || pool FROM pool_allocations"),
        ("usage", "SELECT resource || ' ' || CAST(used AS TEXT) FROM quota_usage WHERE used <> 0"),
    ] {
        broken.extend(world.database.texts(sql).await.into_iter().map(|row| format!("[left-behind] {table}: {row}")));
    }
    broken
}

/// What is offered is taken back.
async fn withdraw_all(admin: &Client, broken: &mut Vec<String>) {
    let offered = admin.get("/volume-transfers?all_tenants=1").await.expect(200)["transfers"].clone();
    for transfer in offered.as_array().into_iter().flatten() {
        let id = transfer["id"].as_str().unwrap_or_default();
        let answer = admin.delete(&format!("/volume-transfers/{id}")).await;
        if answer.status != 202 {
            broken.push(format!("[will-not-go] transfer {id} of {}: {answer:?}", transfer["volume_id"]));
        }
    }
}

async fn attachments(world: &World, service: &Client, broken: &mut Vec<String>) {
    for attachment in world.all("attachments").await {
        let id = attachment["id"].as_str().unwrap_or_default();
        let answer = service.delete(&format!("/attachments/{id}")).await;
        if answer.status != 200 {
            broken.push(format!("[will-not-go] attachment {id} of {}: {answer:?}", attachment["volume_id"]));
        }
    }
    broken.extend(quiet(&world.arrays, &world.database).await);
}

async fn delete_all(world: &World, admin: &Client, what: &str, broken: &mut Vec<String>) {
    for one in world.all(what).await {
        let id = one["id"].as_str().unwrap_or_default();
        let answer = admin.post(&format!("/{what}/{id}/action"), json!({ "os-force_delete": {} })).await;
        if answer.status != 202 {
            broken.push(format!("[will-not-go] {what} {id} ({}): {answer:?}", one["status"]));
        }
    }
    broken.extend(quiet(&world.arrays, &world.database).await);
    for one in world.all(what).await {
        broken.push(format!("[will-not-go] {what} {} is {}", one["id"], one["status"]));
    }
}
