//! The end of a plan: everything can be deleted, with what the API offers, and nothing is left behind anywhere, not one
//! address. Whatever state a share server is in, an operator can delete it.

use http::Method;
use serde_json::{Value, json};

use super::{
    truth::free_of_gaps,
    world::{BACKENDS, World},
};
use crate::quiet::quiet;

/// A first failed try may still be due to what goes wrong now and then.
const TRIES: usize = 3;

/// What must be empty in the end.
const TABLES: [(&str, &str); 14] = [
    ("shares", "SELECT id || ' ' || status FROM shares"),
    ("instances", "SELECT id || ' of ' || share_id FROM share_instances"),
    ("rules", "SELECT id || ' of ' || share_id FROM share_access_rules"),
    ("snapshot rules", "SELECT id || ' of ' || snapshot_id FROM snapshot_access_rules"),
    ("locations", "SELECT path || ' of ' || share_instance_id FROM share_export_locations"),
    ("snapshots", "SELECT id || ' of ' || share_id FROM share_snapshots"),
    ("servers", "SELECT id || ' ' || status FROM share_servers"),
    ("subnets of servers", "SELECT share_server_id || ' on ' || subnet_id FROM share_server_subnets"),
    ("addresses", "SELECT ip_address || ' of ' || share_server_id FROM network_allocations"),
    ("subnets", "SELECT id || ' of ' || share_network_id FROM share_network_subnets"),
    ("networks", "SELECT id || ' ' || status FROM share_networks"),
    ("subnet checks", "SELECT id || ' of ' || share_network_id FROM subnet_checks"),
    ("allocations", "SELECT resource_id || ' on ' || pool FROM pool_allocations"),
    ("usage", "SELECT resource || ' ' || CAST(used AS TEXT) FROM quota_usage WHERE used <> 0"),
];

/// Deletes everything; what is left, or would not go.
pub async fn drain(world: &World) -> Vec<String> {
    let mut broken = Vec::new();
    for attempt in 1..=TRIES {
        broken.clear();
        by_force(world, "snapshots", world.snapshots().await, &mut broken).await;
        by_force(world, "shares", world.shares().await, &mut broken).await;
        servers(world, &mut broken).await;
        networks(world, &mut broken).await;
        // those that went with their network and failed to
        servers(world, &mut broken).await;
        if broken.is_empty() || attempt == TRIES {
            break;
        }
    }
    for service in world.all("/security-services", "security_services").await {
        go(world, &format!("/security-services/{}", service["id"].as_str().unwrap()), &mut broken).await;
    }
    for (array, backend) in world.arrays.iter().zip(BACKENDS) {
        for (kind, objects) in array.control.objects().await.unwrap() {
            broken.extend(objects.into_keys().map(|id| format!("[left-behind] {backend} holds {kind} {id}")));
        }
    }
    for (table, sql) in TABLES {
        broken.extend(world.database.texts(sql).await.into_iter().map(|row| format!("[left-behind] {table}: {row}")));
    }
    broken.extend(free_of_gaps(&world.database).await);
    broken
}

async fn by_force(world: &World, what: &str, there: Vec<Value>, broken: &mut Vec<String>) {
    for one in there {
        let id = one["id"].as_str().unwrap_or_default();
        let answer = world.admin().post(&format!("/{what}/{id}/action"), json!({ "force_delete": null })).await;
        if answer.status != 202 {
            broken.push(format!("[will-not-go] {what} {id} ({}): {answer:?}", one["status"]));
        }
    }
    broken.extend(quiet(&world.arrays, &world.database).await);
    let left = if what == "shares" { world.shares().await } else { world.snapshots().await };
    for one in left {
        broken.push(format!("[will-not-go] {what} {} is {}", one["id"], one["status"]));
    }
}

/// Half of the servers are left to go with their network, where that has one subnet.
async fn servers(world: &World, broken: &mut Vec<String>) {
    let one_subnet = |n: &Value| n["share_network_subnets"].as_array().is_some_and(|s| s.len() == 1);
    let networks = world.networks().await;
    for (n, server) in world.servers().await.iter().enumerate() {
        let of = networks.iter().find(|network| network["id"] == server["share_network_id"]);
        if n % 2 == 0 || !of.is_some_and(one_subnet) {
            go(world, &format!("/share-servers/{}", server["id"].as_str().unwrap()), broken).await;
        }
    }
    broken.extend(quiet(&world.arrays, &world.database).await);
}

async fn networks(world: &World, broken: &mut Vec<String>) {
    for network in world.networks().await {
        let path = format!("/share-networks/{}", network["id"].as_str().unwrap());
        for subnet in network["share_network_subnets"].as_array().unwrap().iter().skip(1) {
            go(world, &format!("{path}/subnets/{}", subnet["id"].as_str().unwrap()), broken).await;
        }
        go(world, &path, broken).await;
    }
    broken.extend(quiet(&world.arrays, &world.database).await);
}

/// Idle servers go by themselves, too: what is gone has gone.
async fn go(world: &World, path: &str, broken: &mut Vec<String>) {
    let answer = world.admin().send(Method::DELETE, path, None).await;
    if answer.status != 202 && answer.status != 404 {
        broken.push(format!("[will-not-go] {path}: {answer:?}"));
    }
}
