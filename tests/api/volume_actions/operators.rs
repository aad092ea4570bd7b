//! What operators say a volume is, and what they delete.

use serde_json::{Value, json};

use super::{act, extend, quota_is_true, shown, take_status, until_status};
use crate::site::{Site, attach, create, uuid};
use crate::snapshots::snapshot;

#[tokio::test]
async fn an_operator_says_what_a_volume_is_but_not_what_belongs_to_a_job() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    let reset = |status: &str| json!({ "status": status });
    for status in ["error", "maintenance", "creating", "attaching", "available"] {
        act(&operator, &id, "os-reset_status", reset(status)).await.expect(202);
        assert_eq!(shown(&member, &id).await["status"], status);
    }
    for refused in [
        "deleting",
        "error_deleting",
        "detaching",
        "extending",
        "retyping",
        "reverting",
        "managing",
        "unmanaging",
        "uploading",
        "awaiting-transfer",
    ] {
        assert!(act(&operator, &id, "os-reset_status", reset(refused)).await.fault(400).contains(refused));
    }
    assert!(act(&operator, &id, "os-reset_status", reset("in-use")).await.fault(400).contains("does not have any attachments"));
    for bad in [json!({}), reset("broken"), json!({ "status": 1 }), json!({ "attach_status": "reserved" }), json!({ "color": "red" })] {
        assert_eq!(act(&operator, &id, "os-reset_status", bad.clone()).await.status, 400, "{bad}");
    }
    act(&operator, &id, "os-reset_status", json!({ "migration_status": "migrating" })).await.expect(202);
    assert!(extend(&member, &id, 2).await.fault(400).contains("migrated"));
    act(&operator, &id, "os-reset_status", json!({ "migration_status": "None", "attach_status": "detached" })).await.expect(202);
    assert_eq!(shown(&operator, &id).await["migration_status"], Value::Null);
    assert_eq!(act(&member, &id, "os-reset_status", reset("error")).await.status, 403);
    assert_eq!(act(&operator, &uuid(), "os-reset_status", reset("error")).await.status, 404);
    attach(&member, &id, "c1").await;
    let text = act(&operator, &id, "os-reset_status", json!({ "attach_status": "detached", "status": "available" })).await.fault(400);
    assert!(text.contains("delete attachment"), "{text}");
}

#[tokio::test]
async fn what_a_job_makes_deletes_or_reverts_is_not_said_to_be_something_else() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await.at("3.40"), site.operator().await);
    let told = |id: String| {
        let operator = operator.clone();
        async move {
            for status in ["available", "error"] {
                let text = act(&operator, &id, "os-reset_status", json!({ "status": status })).await.fault(400);
                assert!(text.contains("says what comes of it"), "{text}");
            }
        }
    };
    // what is extended before it is there would count its room twice
    site.array.hold("create");
    let id = create(&member, json!({})).await;
    site.until("the create", || async { site.array.count("create") == 1 }).await;
    told(id.clone()).await;
    site.array.release("create");
    until_status(&member, &id, "available").await;
    let s = snapshot(&member, &id).await;
    site.array.hold("revert");
    act(&member, &id, "revert", json!({ "snapshot_id": s })).await.expect(202);
    told(id.clone()).await;
    site.array.release("revert");
    until_status(&member, &id, "available").await;
    member.delete(&format!("/snapshots/{s}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{s}")).await;
    // a row that shows what the array holds no more
    site.array.hold("delete");
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    told(id.clone()).await;
    site.array.release("delete");
    member.until_gone(&format!("/volumes/{id}")).await;
    quota_is_true(&site).await;
}

#[tokio::test]
async fn while_a_volume_grows_it_is_neither_snapshotted_nor_reverted_whatever_its_status_is_said_to_be() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await.at("3.66"), site.operator().await);
    let id = site.volume().await;
    let s = member.post("/snapshots", json!({ "snapshot": { "volume_id": id } })).await.expect(202)["snapshot"]["id"].clone();
    member.until(&format!("/snapshots/{}", s.as_str().unwrap()), |a| a.body()["snapshot"]["status"] == "available").await;
    site.array.hold("extend");
    extend(&member, &id, 2).await.expect(202);
    site.until("the extend", || async { site.array.count("extend") == 1 }).await;
    act(&operator, &id, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    assert!(take_status(&member, &id).await.fault(400).contains("being extended"));
    assert!(act(&member, &id, "revert", json!({ "snapshot_id": s })).await.fault(409).contains("being extended"));
    assert_eq!(member.post("/volumes", json!({ "volume": { "source_volid": id } })).await.status, 400);
    site.array.release("extend");
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["size"] == 2).await;
    quota_is_true(&site).await;
}

#[tokio::test]
async fn an_operator_deletes_a_volume_from_any_status() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for status in ["creating", "attaching", "error", "maintenance"] {
        let id = site.volume().await;
        act(&operator, &id, "os-reset_status", json!({ "status": status })).await.expect(202);
        assert_eq!(act(&member, &id, "os-force_delete", json!({})).await.status, 403);
        act(&operator, &id, "os-force_delete", json!({})).await.expect(202);
        member.until_gone(&format!("/volumes/{id}")).await;
    }
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    assert!(act(&operator, &id, "os-force_delete", json!({})).await.fault(400).contains("attached"));
    quota_is_true(&site).await;
}
