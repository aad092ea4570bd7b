//! No statement on a request's way reads a table whole that grows with what users have: SQLite's own plans say so.

use serde_json::json;
use support::statements;
use tracing_subscriber::Layer;

use crate::{
    listening,
    site::{Site, attach, create, detach, reserve},
    snapshots::snapshot,
    volume_actions::act,
};

/// Tables with a row for each back end, process, type or role; and parts of a statement that are no tables.
const SMALL: &[&str] = &[
    "p",
    "b",
    "t",
    "w",
    "n",
    "h",
    "r",
    "held",
    "counted",
    "lane",
    "due",
    "pools",
    "backends",
    "workers",
    "duties",
    "settings",
    "webhook_state",
    "volume_types",
    "share_types",
    "driver_active",
    "driver_blobs",
    "roles",
    "implied_roles",
    "domains",
    "capacity_groups",
    "_sqlx_migrations",
    "CONSTANT",
];

/// What no request does: loops, whose tables are kept short, and an operator's check.
const BEHIND_IT: &[&str] = &[
    "DELETE FROM capacity_claims WHERE settled_at",
    // in the order of its key, a batch at a time
    "SELECT seq, id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts FROM outbox e",
    "SELECT seq, id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts FROM webhook_queue e",
    "SELECT COUNT(*) AS waiting, COALESCE(SUM(CASE WHEN attempts > 0 THEN 1 ELSE 0 END), 0) AS refused",
    "WITH held AS ( SELECT v.project_id, v.volume_type_id AS type_id, 1 AS volumes",
];

/// Listens where SQLx logs.
pub struct Recorder;

impl<S: tracing::Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        statements::keep(event);
    }
}

/// What requests do, once each.
async fn everything(site: &Site) {
    let (member, operator) = (site.member().await.at("3.66"), site.operator().await.at("3.66"));
    let multi = site.multiattach_type().await;
    operator.post("/types", json!({ "volume_type": { "name": "twin" } })).await.expect(200);
    let volume = site.volume_with(json!({ "metadata": { "k": "v" }, "name": "first" })).await;
    site.volume_with(json!({ "volume_type": multi })).await;
    let taken = snapshot(&member, &volume).await;
    let copy = create(&member, json!({ "snapshot_id": taken })).await;
    let cloned = create(&member, json!({ "source_volid": volume })).await;
    for id in [&copy, &cloned] {
        member.volume_until(id, "available").await;
    }
    for path in [
        "/volumes?limit=1".to_owned(),
        format!("/volumes/detail?limit=1&marker={volume}"),
        "/volumes/detail?name=first&status=available".to_owned(),
        "/volumes/detail?sort=size:desc&limit=1".to_owned(),
        format!("/volumes/{volume}"),
        "/snapshots/detail?limit=1".to_owned(),
        format!("/snapshots?volume_id={volume}"),
        format!("/attachments?volume_id={volume}"),
        "/attachments/detail?limit=1".to_owned(),
        "/types".to_owned(),
        "/messages?limit=1".to_owned(),
        "/limits".to_owned(),
        format!("/volumes/{volume}/metadata"),
    ] {
        member.get(&path).await.expect(200);
    }
    for path in
        ["/volumes/detail?all_tenants=1&limit=1", "/snapshots?all_tenants=1&limit=1", "/os-services", "/scheduler-stats/get_pools?detail=1"]
    {
        operator.get(path).await.expect(200);
    }
    let attachment = attach(&member, &volume, "c1").await;
    detach(&member, &attachment).await.expect(200);
    let reservation = reserve(&member, &volume, None).await;
    detach(&member, &reservation).await.expect(200);
    member.put(&format!("/volumes/{volume}"), json!({ "volume": { "name": "other" } })).await.expect(200);
    member.post(&format!("/volumes/{volume}/metadata"), json!({ "metadata": { "a": "b" } })).await.expect(200);
    act(&member, &volume, "os-extend", json!({ "new_size": 2 })).await.expect(202);
    member.volume_until(&volume, "available").await;
    act(&member, &cloned, "os-retype", json!({ "new_type": "twin" })).await.expect(202);
    member.volume_until(&cloned, "available").await;
    act(&operator, &copy, "os-reset_status", json!({ "status": "error" })).await.expect(202);
    member.delete(&format!("/snapshots/{taken}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{taken}")).await;
    for id in [&copy, &cloned, &volume] {
        member.delete(&format!("/volumes/{id}")).await.expect(202);
        member.until_gone(&format!("/volumes/{id}")).await;
    }
}

#[tokio::test]
async fn no_request_reads_a_growing_table_whole() {
    listening::listen();
    let site = Site::start().await;
    everything(&site).await;
    let plans = statements::plans(SMALL, BEHIND_IT).await;
    assert!(plans.explained > 80, "only {} statements were seen", plans.explained);
    assert!(plans.whole.is_empty(), "{}", plans.whole.join("\n"));
    assert!(plans.sorted.is_empty(), "{}", plans.sorted.join("\n"));
}
