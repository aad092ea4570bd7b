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

/// Small tables and parts of a statement that only this API has.
const SMALL: &[&str] = &["counted"];

/// What no request does, of this API's things.
const BEHIND_IT: &[&str] = &["WITH held AS ( SELECT v.project_id, v.volume_type_id AS type_id, 1 AS volumes"];

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
    if !statements::is_alone("statements::no_request_reads_a_growing_table_whole") {
        return;
    }
    listening::listen();
    let site = Site::start().await;
    everything(&site).await;
    let plans = statements::plans(SMALL, BEHIND_IT).await;
    assert!(plans.explained > 80, "only {} statements were seen", plans.explained);
    assert!(plans.whole.is_empty(), "{}", plans.whole.join("\n"));
    assert!(plans.sorted.is_empty(), "{}", plans.sorted.join("\n"));
}
