//! What is done to a volume where it lies: extend, revert, flags, what operators say it is.

mod extend;
mod flags;
mod operators;
mod revert;
mod together;

use serde_json::{Value, json};
use stowage::{driver::capability::Capacity, store::sql::quota_count::is_counted};
use support::Client;

use crate::array::pool;
use crate::site::Site;

/// No figure differs from what it counts.
pub async fn quota_is_true(site: &Site) {
    let mut tx = site.app.app().store.begin().await.unwrap();
    tx.lock_quota().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    let drift = tx.quota_check(&counted, is_counted, false).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(drift, [], "figures differ from what they count");
}

pub async fn act(client: &Client, volume: &str, action: &str, members: Value) -> support::Answer {
    client.post(&format!("/volumes/{volume}/action"), json!({ action: members })).await
}

async fn extend(client: &Client, volume: &str, to: i64) -> support::Answer {
    act(client, volume, "os-extend", json!({ "new_size": to })).await
}

async fn shown(client: &Client, volume: &str) -> Value {
    client.get(&format!("/volumes/{volume}")).await.expect(200)["volume"].clone()
}

async fn until_status(client: &Client, volume: &str, status: &str) -> Value {
    client.until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["status"] == status).await.body()["volume"].clone()
}

async fn messages(client: &Client, resource: &str) -> Vec<Value> {
    let found = client.at("3.5").get(&format!("/messages?resource_uuid={resource}")).await.expect(200);
    found["messages"].as_array().unwrap().clone()
}

/// The one pool has so many GiB in all, and nothing else was written there.
async fn pool_of(site: &Site, gib: f64, online: bool) {
    site.array.report(|r| {
        r.pools = vec![pool("p1")];
        r.pools[0].total = Capacity::Gib(gib);
        r.pools[0].free = Capacity::Gib(gib);
        r.pools[0].online_extend = Some(online);
    });
    site.serve("stowage@a", &site.array).await;
}

async fn take_status(client: &Client, volume: &str) -> support::Answer {
    client.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await
}
