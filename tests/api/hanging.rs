//! A back end whose driver hangs is its own trouble: creates and deletes elsewhere go on, however many wait for it.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};
use support::Client;

use crate::{
    array::Array,
    site::{Site, create},
};

/// Jobs that run at once before they have a back end; more than these are asked for.
const UNPLACED: usize = 4;
const MANY: usize = 40;

/// `stowage@a` and `stowage@b`, each with a type of volumes that only it makes.
async fn two_back_ends() -> (Site, Arc<Array>) {
    let site = Site::start_with(|c| {
        c.jobs.concurrency = UNPLACED;
        c.quota.volumes = -1;
        c.quota.gigabytes = -1;
    })
    .await;
    let b = Array::new(&["p1"]);
    site.serve("stowage@b", &b).await;
    let operator = site.operator().await;
    for name in ["a", "b"] {
        let body = json!({ "volume_type": { "name": name, "extra_specs": { "volume_backend_name": name } } });
        operator.post("/types", body).await.expect(200);
    }
    (site, b)
}

fn on(backend: &str) -> Value {
    json!({ "volume_type": backend })
}

async fn created(member: &Client, backend: &str, count: usize) -> Vec<String> {
    let ids = join_all((0..count).map(|_| create(member, on(backend)))).await;
    for id in &ids {
        member.volume_until(id, "available").await;
    }
    ids
}

async fn deleted(member: &Client, ids: &[String]) {
    for id in ids {
        member.delete(&format!("/volumes/{id}")).await.expect(202);
    }
    for id in ids {
        member.until_gone(&format!("/volumes/{id}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn creates_that_hang_stop_no_create_and_no_delete_elsewhere() {
    let (site, b) = two_back_ends().await;
    let member = site.member().await;
    site.array.hold("create");
    let waiting = join_all((0..MANY).map(|_| create(&member, on("a")))).await;
    site.until("as many creates to hang as may", || async { site.array.count("create") > UNPLACED }).await;
    let ids = created(&member, "b", 20).await;
    deleted(&member, &ids).await;
    assert!(b.volumes().is_empty());
    for id in &waiting {
        assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["status"], "creating");
    }
    assert!(site.array.count("create") <= 16, "more calls at once than one back end may have");
    site.array.release("create");
    for id in &waiting {
        member.volume_until(id, "available").await;
    }
    assert_eq!(site.array.count("create"), MANY, "a create that waited for room was begun twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletes_that_hang_stop_no_create_and_no_delete_elsewhere() {
    let (site, b) = two_back_ends().await;
    let member = site.member().await;
    let doomed = created(&member, "a", MANY).await;
    site.array.hold("delete");
    for id in &doomed {
        member.delete(&format!("/volumes/{id}")).await.expect(202);
    }
    site.until("as many deletes to hang as may", || async { site.array.count("delete") > UNPLACED }).await;
    let ids = created(&member, "b", 20).await;
    deleted(&member, &ids).await;
    assert!(b.volumes().is_empty());
    site.array.release("delete");
    for id in &doomed {
        member.until_gone(&format!("/volumes/{id}")).await;
    }
}
