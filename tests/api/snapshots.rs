//! Snapshots: what is accepted becomes true, what is refused says why, and what a client reads.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::{Client, Persona};

use crate::{
    array::{Fault, pool},
    site::{Site, attach, uuid},
    volume_actions::quota_is_true,
};

/// A snapshot, accepted; its id.
pub async fn take(client: &Client, volume: &str, members: Value) -> String {
    let mut snapshot = json!({ "volume_id": volume });
    snapshot.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/snapshots", json!({ "snapshot": snapshot })).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned()
}

/// Shows a snapshot until it has `status`.
pub async fn until(client: &Client, id: &str, status: &str) -> Value {
    client.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == status).await.body()["snapshot"].clone()
}

/// An available snapshot; its id.
pub async fn snapshot(client: &Client, volume: &str) -> String {
    let id = take(client, volume, json!({})).await;
    until(client, &id, "available").await;
    id
}

async fn message(client: &Client, resource: &str) -> Value {
    let found = client.at("3.5").get(&format!("/messages?resource_uuid={resource}")).await.expect(200);
    assert_eq!(found["messages"].as_array().unwrap().len(), 1, "{found}");
    found["messages"][0].clone()
}

#[tokio::test]
async fn a_snapshot_becomes_available_and_counts_in_the_quota() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume_with(json!({ "size": 3 })).await;
    let body = json!({ "snapshot": { "volume_id": volume, "name": " s ", "description": "d", "metadata": { "k": "v" } } });
    let made = member.post("/snapshots", body).await.expect(202)["snapshot"].clone();
    assert_eq!((&made["status"], &made["size"], &made["name"]), (&json!("creating"), &json!(3), &json!("s")));
    assert_eq!((&made["volume_id"], &made["metadata"]), (&json!(volume), &json!({ "k": "v" })));
    let id = made["id"].as_str().unwrap();
    let shown = until(&member, id, "available").await;
    assert_eq!(shown["os-extended-snapshot-attributes:progress"], "100%");
    assert_eq!(site.array.snapshots(), [id]);
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes").await), (1, 6));
    assert_eq!(site.used(&member, "gigabytes___DEFAULT__").await, 6);
    assert_eq!(site.used(&member, "snapshots___DEFAULT__").await, 1);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_deleted_snapshot_shows_deleting_at_once_and_then_is_gone_with_its_quota() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = snapshot(&member, &volume).await;
    site.array.hold("delete-snapshot");
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"]["status"], "deleting");
    assert!(member.delete(&format!("/snapshots/{id}")).await.fault(400).contains("must be available or error"));
    site.array.release("delete-snapshot");
    member.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!(site.array.snapshots(), Vec::<String>::new());
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes").await), (0, 1));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn snapshots_do_not_count_in_gigabytes_where_the_operator_says_so() {
    let site = Site::start_with(|c| c.block.no_snapshot_gb_quota = true).await;
    let member = site.member().await;
    let volume = site.volume_with(json!({ "size": 3 })).await;
    let id = snapshot(&member, &volume).await;
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes").await), (1, 3));
    quota_is_true(&site).await;
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!(site.used(&member, "gigabytes").await, 3);
}

#[tokio::test]
async fn quota_is_refused_with_413_that_says_exceed_and_leaves_nothing() {
    let site = Site::start_with(|c| {
        c.quota.snapshots = 1;
        c.quota.gigabytes = 6;
    })
    .await;
    let member = site.member().await;
    let (large, small) = (site.volume_with(json!({ "size": 3 })).await, site.volume().await);
    let ask = |volume: &str| json!({ "snapshot": { "volume_id": volume } });
    let text = member.post("/snapshots", ask(&large)).await.fault(413);
    assert!(text.starts_with("VolumeSizeExceedsAvailableQuota: ") && text.contains("exceed"), "{text}");
    snapshot(&member, &small).await;
    let text = member.post("/snapshots", ask(&small)).await.fault(413);
    assert!(text.starts_with("SnapshotLimitExceeded: ") && text.contains("exceed"), "{text}");
    assert_eq!(member.get("/snapshots").await.expect(200)["snapshots"].as_array().unwrap().len(), 1);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn an_attached_volume_needs_force_up_to_3_65_and_from_3_66_false_is_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    attach(&member, &volume, "c1").await;
    let ask = |members: Value| {
        let mut snapshot = json!({ "volume_id": volume });
        snapshot.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({ "snapshot": snapshot })
    };
    assert!(member.at("3.65").post("/snapshots", ask(json!({}))).await.fault(400).contains("in-use"));
    assert!(member.at("3.65").post("/snapshots", ask(json!({ "force": false }))).await.fault(400).contains("in-use"));
    member.at("3.65").post("/snapshots", ask(json!({ "force": true }))).await.expect(202);
    member.at("3.66").post("/snapshots", ask(json!({}))).await.expect(202);
    member.at("3.66").post("/snapshots", ask(json!({ "force": "True" }))).await.expect(202);
    assert!(member.at("3.66").post("/snapshots", ask(json!({ "force": false }))).await.fault(400).contains("'force' flag is invalid"));
    assert_eq!(member.post("/snapshots", ask(json!({ "force": "perhaps" }))).await.status, 400);
}

#[tokio::test]
async fn bad_bodies_and_unknown_volumes_are_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    for (bad, status) in [
        (json!({}), 400),
        (json!({ "snapshot": {} }), 400),
        (json!({ "snapshot": { "volume_id": "x" } }), 400),
        // as upstream: an id that no volume has
        (json!({ "snapshot": { "volume_id": null } }), 404),
        (json!({ "snapshot": { "volume_id": volume, "color": 1 } }), 400),
        (json!({ "snapshot": { "volume_id": volume, "name": "n".repeat(256) } }), 400),
        (json!({ "snapshot": { "volume_id": volume, "metadata": { "k": 1 } } }), 400),
        (json!({ "snapshot": { "volume_id": volume }, "x": 1 }), 400),
        (json!({ "snapshot": { "volume_id": uuid() } }), 404),
    ] {
        assert_eq!(member.post("/snapshots", bad.clone()).await.status, status, "{bad}");
    }
    // another project's volume is not there
    let stranger = site.block(Persona::Stranger).await;
    assert_eq!(stranger.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.status, 404);
    let reader = site.block(Persona::Reader).await;
    assert_eq!(reader.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.status, 403);
}

#[tokio::test]
async fn another_projects_snapshot_is_not_found_on_every_path() {
    let site = Site::start().await;
    let (member, stranger, reader) = (site.member().await, site.block(Persona::Stranger).await, site.block(Persona::Reader).await);
    let id = snapshot(&member, &site.volume().await).await;
    let path = format!("/snapshots/{id}");
    let status = |status: &str| json!({ "os-update_snapshot_status": { "status": status } });
    assert_eq!(stranger.get(&path).await.status, 404);
    assert_eq!(stranger.put(&path, json!({ "snapshot": { "name": "x" } })).await.status, 404);
    assert_eq!(stranger.delete(&path).await.status, 404);
    assert_eq!(stranger.get(&format!("{path}/metadata")).await.status, 404);
    assert_eq!(stranger.post(&format!("{path}/metadata"), json!({ "metadata": {} })).await.status, 404);
    assert_eq!(stranger.post(&format!("{path}/action"), status("error")).await.status, 404);
    assert_eq!(stranger.get(&format!("/snapshots?marker={id}")).await.status, 404);
    assert_eq!(stranger.get("/snapshots").await.expect(200)["snapshots"], json!([]));
    // a reader reads
    reader.get(&path).await.expect(200);
    assert_eq!(reader.delete(&path).await.status, 403);
    assert_eq!(reader.put(&path, json!({ "snapshot": { "name": "x" } })).await.status, 403);
    // and operators' verbs are operators'
    for action in ["os-reset_status", "os-force_delete"] {
        let body = json!({ action: { "status": "error" } });
        assert_eq!(member.post(&format!("{path}/action"), body).await.status, 403, "{action}");
    }
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn the_key_set_is_exact_by_microversion_and_answer() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = snapshot(&member, &volume).await;
    let base = ["created_at", "description", "id", "metadata", "name", "size", "status", "updated_at", "volume_id"];
    let later = [(14, "group_snapshot_id"), (41, "user_id"), (65, "consumes_quota")];
    let extended = ["os-extended-snapshot-attributes:progress", "os-extended-snapshot-attributes:project_id"];
    for minor in [0, 13, 14, 40, 41, 64, 65, 71] {
        let client = member.at(&format!("3.{minor}"));
        let expected = |shown: bool| {
            let mut all: Vec<&str> = base.to_vec();
            all.extend(later.iter().filter(|(since, _)| minor >= *since).map(|(_, name)| *name));
            all.extend(extended.iter().filter(|_| shown));
            all.sort_unstable();
            all
        };
        let shown = client.get(&format!("/snapshots/{id}")).await.expect(200);
        assert_eq!(keys(&shown["snapshot"]), expected(true), "show 3.{minor}");
        let listed = client.get("/snapshots/detail").await.expect(200);
        assert_eq!(keys(&listed["snapshots"][0]), expected(true), "detail 3.{minor}");
        let changed = client.put(&format!("/snapshots/{id}"), json!({ "snapshot": { "name": "n" } })).await.expect(200);
        assert_eq!(keys(&changed["snapshot"]), expected(false), "update 3.{minor}");
        let short = client.get("/snapshots").await.expect(200);
        assert_eq!(keys(&short["snapshots"][0]), base, "list 3.{minor}");
    }
    let made = member.at("3.71").post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.expect(202);
    assert!(!keys(&made["snapshot"]).iter().any(|k| k.starts_with("os-extended")));
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_an_empty_one_is_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = take(&member, &site.volume().await, json!({ "name": "a", "description": "d" })).await;
    let path = format!("/snapshots/{id}");
    let s = member.put(&path, json!({ "snapshot": { "display_name": " b " } })).await.expect(200)["snapshot"].clone();
    assert_eq!((&s["name"], &s["description"]), (&json!("b"), &json!("d")));
    let s = member.put(&path, json!({ "snapshot": { "description": null } })).await.expect(200)["snapshot"].clone();
    assert_eq!((&s["name"], &s["description"]), (&json!("b"), &json!(null)));
    assert_eq!(member.put(&path, json!({ "snapshot": {} })).await.status, 400);
    assert_eq!(member.put(&path, json!({ "snapshot": { "status": "error" } })).await.status, 400);
}

#[tokio::test]
async fn metadata_is_merged_replaced_and_removed_pair_by_pair() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = take(&member, &site.volume().await, json!({ "metadata": { "a": "1" } })).await;
    let path = format!("/snapshots/{id}/metadata");
    let merged = member.post(&path, json!({ "metadata": { "b": "2" } })).await.expect(200);
    assert_eq!(merged["metadata"], json!({ "a": "1", "b": "2" }));
    let one = member.put(&format!("{path}/b"), json!({ "meta": { "b": "3" } })).await.expect(200);
    assert_eq!(one["meta"], json!({ "b": "3" }));
    assert_eq!(member.get(&format!("{path}/b")).await.expect(200)["meta"], json!({ "b": "3" }));
    assert_eq!(member.put(&format!("{path}/b"), json!({ "meta": { "c": "3" } })).await.status, 400);
    let replaced = member.put(&path, json!({ "metadata": { "c": "4" } })).await.expect(200);
    assert_eq!(replaced["metadata"], json!({ "c": "4" }));
    assert_eq!(member.delete(&format!("{path}/a")).await.status, 404);
    member.delete(&format!("{path}/c")).await.expect(200);
    assert_eq!(member.get(&path).await.expect(200)["metadata"], json!({}));
    assert_eq!(member.get(&format!("{path}/c")).await.status, 404);
}

#[tokio::test]
async fn a_full_pool_ends_in_error_with_a_message_and_without_a_call() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume_with(json!({ "size": 6 })).await;
    site.array.report(|r| {
        r.pools = vec![pool("p1")];
        r.pools[0].total = stowage::driver::capability::Capacity::Gib(10.0);
        r.pools[0].free = stowage::driver::capability::Capacity::Gib(4.0);
    });
    site.serve("stowage@a", &site.array).await;
    let id = take(&member, &volume, json!({})).await;
    until(&member, &id, "error").await;
    let m = message(&member, &id).await;
    assert_eq!((&m["event_id"], &m["resource_type"]), (&json!("VOLUME_VOLUME_SNAPSHOT_009_003"), &json!("VOLUME_SNAPSHOT")));
    assert!(m["user_message"].as_str().unwrap().contains("not enough free capacity"), "{m}");
    assert_eq!(site.array.count("snapshot"), 0);
    // nothing lies behind it: it is gone when the call returns
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/snapshots/{id}")).await.status, 404);
    assert_eq!(site.used(&member, "snapshots").await, 0);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_driver_without_snapshots_ends_in_error_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    site.array.lacks("volume-snapshots");
    site.serve("stowage@a", &site.array).await;
    let id = take(&member, &volume, json!({})).await;
    until(&member, &id, "error").await;
    let m = message(&member, &id).await;
    assert_eq!(m["event_id"], "VOLUME_VOLUME_SNAPSHOT_009_013");
    assert!(m["user_message"].as_str().unwrap().contains("cannot do this"), "{m}");
    // the driver need not be able to delete what was never made
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/snapshots/{id}")).await.status, 404);
    member.delete(&format!("/volumes/{volume}")).await.expect(202);
    member.until_gone(&format!("/volumes/{volume}")).await;
}

#[tokio::test]
async fn a_lost_answer_is_repeated_and_makes_one_snapshot() {
    let site = Site::start().await;
    let member = site.member().await;
    site.array.fault("snapshot", Fault::LoseAnswer(ErrorKind::Transient));
    let id = snapshot(&member, &site.volume().await).await;
    assert_eq!(site.array.snapshots(), [id]);
    assert_eq!(site.array.count("snapshot"), 2);
}

#[tokio::test]
async fn an_uncertain_failure_ends_in_error_and_its_delete_asks_the_back_end() {
    let site = Site::start().await;
    let member = site.member().await;
    for _ in 0..3 {
        site.array.fault("snapshot", Fault::LoseAnswer(ErrorKind::Internal));
    }
    let id = take(&member, &site.volume().await, json!({})).await;
    until(&member, &id, "error").await;
    assert_eq!(message(&member, &id).await["event_id"], "VOLUME_VOLUME_SNAPSHOT_009_013");
    assert_eq!(site.array.snapshots(), [id.clone()]);
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!(site.array.snapshots(), Vec::<String>::new());
}

#[tokio::test]
async fn a_busy_snapshot_becomes_available_again_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = snapshot(&member, &site.volume().await).await;
    for _ in 0..4 {
        site.array.fault("delete-snapshot", Fault::Refuse(ErrorKind::Busy));
    }
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    until(&member, &id, "available").await;
    assert_eq!(message(&member, &id).await["event_id"], "VOLUME_VOLUME_SNAPSHOT_010_015");
}

#[tokio::test]
async fn a_busy_snapshot_that_was_not_available_before_does_not_become_so() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = snapshot(&member, &site.volume().await).await;
    operator.post(&format!("/snapshots/{id}/action"), json!({ "os-reset_status": { "status": "error" } })).await.expect(202);
    for _ in 0..4 {
        site.array.fault("delete-snapshot", Fault::Refuse(ErrorKind::Busy));
    }
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    until(&member, &id, "error_deleting").await;
}

#[tokio::test]
async fn what_a_job_works_on_nobody_else_tells_about() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    site.array.hold("snapshot");
    let id = take(&member, &volume, json!({})).await;
    site.until("the snapshot to be taken", || async { site.array.count("snapshot") == 1 }).await;
    let say = json!({ "os-update_snapshot_status": { "status": "error" } });
    assert!(member.post(&format!("/snapshots/{id}/action"), say).await.fault(400).contains("job"));
    site.array.release("snapshot");
    until(&member, &id, "available").await;
}

#[tokio::test]
async fn a_failed_delete_ends_in_error_deleting_and_may_be_repeated() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = snapshot(&member, &site.volume().await).await;
    site.array.fault("delete-snapshot", Fault::Refuse(ErrorKind::Auth));
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    until(&member, &id, "error_deleting").await;
    assert_eq!(message(&member, &id).await["event_id"], "VOLUME_VOLUME_SNAPSHOT_010_016");
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
}

#[tokio::test]
async fn a_volume_with_snapshots_is_deleted_only_with_cascade_and_then_with_them() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let (a, b) = (snapshot(&member, &volume).await, snapshot(&member, &volume).await);
    let text = member.delete(&format!("/volumes/{volume}")).await.fault(400);
    assert!(text.contains("2 snapshots"), "{text}");
    let operator = site.operator().await.at("3.23");
    assert_eq!(operator.delete(&format!("/volumes/{volume}?force=true")).await.status, 400);
    assert_eq!(operator.post(&format!("/volumes/{volume}/action"), json!({ "os-force_delete": {} })).await.status, 400);
    member.delete(&format!("/volumes/{volume}?cascade=true")).await.expect(202);
    assert_eq!(member.get(&format!("/snapshots/{a}")).await.expect(200)["snapshot"]["status"], "deleting");
    member.until_gone(&format!("/volumes/{volume}")).await;
    for id in [a, b] {
        assert_eq!(member.get(&format!("/snapshots/{id}")).await.status, 404);
    }
    assert!(site.array.volumes().is_empty() && site.array.snapshots().is_empty());
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes").await), (0, 0));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_cascade_whose_snapshot_stays_leaves_the_volume_to_be_deleted_again() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = snapshot(&member, &volume).await;
    site.array.fault("delete-snapshot", Fault::Refuse(ErrorKind::Auth));
    member.delete(&format!("/volumes/{volume}?cascade=true")).await.expect(202);
    member.until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["status"] == "error_deleting").await;
    assert_eq!(until(&member, &id, "error_deleting").await["volume_id"], json!(volume));
    assert_eq!(site.array.count("delete"), 0, "the driver must not be asked for a volume that has snapshots");
    member.delete(&format!("/volumes/{volume}?cascade=true")).await.expect(202);
    member.until_gone(&format!("/volumes/{volume}")).await;
    quota_is_true(&site).await;
}

#[tokio::test]
async fn an_operator_says_what_a_snapshot_is_and_deletes_it_from_any_status() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.volume().await;
    let reset = |status: &str| json!({ "os-reset_status": { "status": status } });
    for status in ["creating", "deleting", "error", "error_deleting", "available"] {
        let id = snapshot(&member, &volume).await;
        let action = format!("/snapshots/{id}/action");
        operator.post(&action, reset(status)).await.expect(202);
        assert_eq!(member.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"]["status"], status);
        operator.post(&action, json!({ "os-force_delete": {} })).await.expect(202);
        member.until_gone(&format!("/snapshots/{id}")).await;
    }
    let id = snapshot(&member, &volume).await;
    let action = format!("/snapshots/{id}/action");
    for bad in [
        json!({ "os-reset_status": {} }),
        reset("broken"),
        reset("restoring"),
        reset("updating"),
        reset("unmanaging"),
        json!({ "os-reset_status": { "status": 1 } }),
    ] {
        assert_eq!(operator.post(&action, bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(operator.post(&action, json!({ "os-nothing": {} })).await.status, 400);
    assert_eq!(operator.post(&format!("/snapshots/{}/action", uuid()), reset("error")).await.status, 404);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn who_takes_a_snapshot_elsewhere_says_how_far_it_is() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = snapshot(&member, &site.volume().await).await;
    let action = format!("/snapshots/{id}/action");
    let say = |status: &str, progress: Value| json!({ "os-update_snapshot_status": { "status": status, "progress": progress } });
    let text = member.post(&action, say("error", Value::Null)).await.fault(400);
    assert_eq!(text, "Provided snapshot status error not allowed for snapshot with status available.");
    operator.post(&action, json!({ "os-reset_status": { "status": "creating" } })).await.expect(202);
    for bad in ["80", "101%", "x%", "-1%"] {
        assert!(member.post(&action, say("creating", json!(bad))).await.fault(400).contains("integer percentage"), "{bad}");
    }
    member.post(&action, say("creating", json!("80%"))).await.expect(202);
    let shown = member.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"].clone();
    assert_eq!((&shown["status"], &shown["os-extended-snapshot-attributes:progress"]), (&json!("creating"), &json!("80%")));
    member.post(&action, say("available", Value::Null)).await.expect(202);
    until(&member, &id, "available").await;
}

#[tokio::test]
async fn lists_have_filters_sorts_pages_counts_and_a_marker_that_may_be_deleted() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let (v, w) = (site.volume().await, site.volume().await);
    let mut ids = Vec::new();
    for (n, volume) in [&v, &w, &v, &w, &v].iter().enumerate() {
        let id = take(&member, volume, json!({ "name": format!("s{}", n % 2), "metadata": { "n": n.to_string() } })).await;
        until(&member, &id, "available").await;
        ids.push(id);
    }
    let listed = |client: Client, path: String| async move {
        let body = client.get(&path).await.expect(200);
        body["snapshots"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let newest_first: Vec<String> = ids.iter().rev().cloned().collect();
    assert_eq!(listed(member.clone(), "/snapshots".into()).await, newest_first);
    assert_eq!(listed(member.clone(), "/snapshots?sort=created_at:asc".into()).await, ids);
    assert_eq!(listed(member.clone(), format!("/snapshots?volume_id={w}")).await, [ids[3].clone(), ids[1].clone()]);
    assert_eq!(listed(member.clone(), "/snapshots/detail?name=s1".into()).await, [ids[3].clone(), ids[1].clone()]);
    assert_eq!(listed(member.clone(), "/snapshots?status=error".into()).await, Vec::<String>::new());
    assert_eq!(listed(member.at("3.22"), "/snapshots?metadata=%7B'n':'2'%7D".into()).await, [ids[2].clone()]);
    assert_eq!(listed(member.at("3.21"), "/snapshots?metadata=%7B'n':'2'%7D".into()).await.len(), 5, "not a filter yet");
    assert_eq!(listed(member.at("3.31"), "/snapshots?availability_zone=nova".into()).await.len(), 5);
    assert_eq!(listed(operator.clone(), format!("/snapshots?all_tenants=1&project_id={}", member.project_id)).await.len(), 5);
    assert_eq!(listed(operator.clone(), "/snapshots".into()).await.len(), 0);
    // an ordinary user's unknown filter: ignored, then refused
    assert_eq!(listed(member.at("3.30"), "/snapshots?color=red".into()).await.len(), 5);
    assert!(member.at("3.31").get("/snapshots?color=red").await.fault(400).contains("color"));
    // name sorts from 3.30
    assert_eq!(member.at("3.29").get("/snapshots?sort=name").await.status, 400);
    assert_eq!(listed(member.at("3.30"), "/snapshots?sort=name:asc,created_at:asc".into()).await[0], ids[0]);
    assert_eq!(member.get("/snapshots?sort=nothing").await.status, 400);
    // pages, with a marker that is deleted in between
    let page = member.at("3.45").get("/snapshots?limit=2&with_count=true").await.expect(200);
    assert_eq!(page["count"], 5);
    let next = page["snapshots_links"][0]["href"].as_str().unwrap().split_once("/v3").unwrap().1.to_owned();
    assert!(next.contains(&ids[3]), "{next}");
    member.delete(&format!("/snapshots/{}", ids[3])).await.expect(202);
    member.until_gone(&format!("/snapshots/{}", ids[3])).await;
    assert_eq!(listed(member.clone(), next.replace("limit=2", "limit=10")).await, [ids[2].clone(), ids[1].clone(), ids[0].clone()]);
    assert_eq!(member.get(&format!("/snapshots?marker={}", uuid())).await.status, 404);
    assert_eq!(listed(member.clone(), "/snapshots?limit=0".into()).await.len(), 0);
    assert!(member.at("3.44").get("/snapshots?with_count=true").await.expect(200).get("count").is_none());
    let filters = member.at("3.33").get("/resource_filters?resource=snapshot").await.expect(200);
    assert_eq!(filters["resource_filters"][0]["filters"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn snapshots_of_one_volume_are_taken_one_after_the_other() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    site.array.hold("snapshot");
    let (a, b) = (take(&member, &volume, json!({})).await, take(&member, &volume, json!({})).await);
    site.until("the first to begin", || async { site.array.count("snapshot") == 1 }).await;
    // deleted while it waits for its turn: it is never made
    let operator = site.operator().await;
    operator.post(&format!("/snapshots/{b}/action"), json!({ "os-force_delete": {} })).await.expect(202);
    site.array.release("snapshot");
    until(&member, &a, "available").await;
    member.until_gone(&format!("/snapshots/{b}")).await;
    assert_eq!((site.array.count("snapshot"), site.array.snapshots()), (1, vec![a]));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_new_driver_must_do_snapshots_while_there_are_any() {
    let site = Site::start().await;
    let id = snapshot(&site.member().await, &site.volume().await).await;
    let uses = site.app.app().store.backend_uses("stowage@a").await.unwrap();
    assert_eq!((uses.volumes, uses.snapshots), (1, 1));
    let member = site.member().await;
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!(site.app.app().store.backend_uses("stowage@a").await.unwrap().snapshots, 0);
}
