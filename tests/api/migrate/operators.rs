//! `os-migrate_volume` and its completion, as operators ask for and see them.

use serde_json::{Value, json};

use super::{Two, anywhere, name_id, other};
use crate::site::{attach, detach, uuid};
use crate::snapshots::snapshot;
use crate::volume_actions::act;

#[tokio::test]
async fn what_cannot_be_copied_is_refused_with_a_reason() {
    let two = Two::start().await;
    let id = two.volume().await;
    assert!(two.retype(&id, "never").await.fault(400).contains("the migration policy is never"));
    let attachment = attach(&two.member, &id, "c1").await;
    assert!(two.retype(&id, "on-demand").await.fault(400).contains("is attached"));
    assert!(two.migrate(&id, "stowage@b#p1", false).await.fault(400).contains("is attached"));
    detach(&two.member, &attachment).await.expect(200);
    let s = snapshot(&two.member, &id).await;
    assert!(two.retype(&id, "on-demand").await.fault(400).contains("must not have snapshots"));
    assert!(two.migrate(&id, "stowage@b#p1", false).await.fault(400).contains("must not have snapshots"));
    two.member.delete(&format!("/snapshots/{s}")).await.expect(202);
    two.member.until_gone(&format!("/snapshots/{s}")).await;
    assert!(two.migrate(&id, "stowage@a#p1", false).await.fault(400).contains("different than the current one"));
    for nowhere in ["stowage@none#p1", "else@b#p1", "stowage", "stowage@b#nope", "stowage@b#", "stowage@b#p1#x"] {
        assert!(two.migrate(&id, nowhere, false).await.fault(400).contains("No available service named"), "{nowhere}");
    }
    let ask = json!({ "cluster": "c" });
    assert!(act(&two.operator.at("3.16"), &id, "os-migrate_volume", ask.clone()).await.fault(400).contains("No available service"));
    for bad in [json!({}), ask, json!({ "host": "stowage@b", "lock_volume": "maybe" }), json!({ "host": "stowage@b", "x": 1 })] {
        assert_eq!(act(&two.operator.at("3.15"), &id, "os-migrate_volume", bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(act(&two.member, &id, "os-migrate_volume", json!({ "host": "stowage@b" })).await.status, 403);
    assert_eq!(two.migrate(&uuid(), "stowage@b", false).await.status, 404);
    two.operator.put("/os-services/disable", json!({ "binary": "cinder-volume", "host": "stowage@b" })).await.expect(200);
    assert!(two.migrate(&id, "stowage@b#p1", false).await.fault(400).contains("No available service"));
}

#[tokio::test]
async fn an_operator_sends_a_volume_to_a_back_end_and_back_again() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    let mut names = vec![id.clone()];
    for lock in [false, true] {
        let to = other(&two.shown(&id).await["os-vol-host-attr:host"]);
        two.migrate(&id, to, lock).await.expect(202);
        let v = two
            .operator
            .until(&format!("/volumes/{id}"), |a| a.body()["volume"]["os-vol-host-attr:host"] == format!("{to}#p1"))
            .await
            .body()["volume"]
            .clone();
        assert_eq!(
            (&v["status"], &v["migration_status"], &v["volume_type"]),
            (&json!("available"), &json!("success"), &json!("__DEFAULT__"))
        );
        assert!(!names.contains(&name_id(&v)), "every object has a name of its own");
        names.push(name_id(&v));
        let new = names.last().unwrap().as_str();
        if to == "stowage@a" {
            two.hold(&[new], &[]).await
        } else {
            two.hold(&[], &[new]).await
        }
        two.lies_on(&id, &format!("{to}#p1"), Some(new)).await;
    }
}

#[tokio::test]
async fn a_locked_volume_is_in_maintenance_and_nothing_else_is_done_to_it() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    let to = other(&two.shown(&id).await["os-vol-host-attr:host"]);
    two.hand.hold();
    two.migrate(&id, to, true).await.expect(202);
    two.until_copying().await;
    assert_eq!(two.shown(&id).await["status"], "maintenance");
    let body = json!({ "attachment": { "volume_uuid": id, "instance_uuid": uuid() } });
    assert_eq!(two.member.at("3.44").post("/attachments", body).await.status, 400);
    assert_eq!(two.migrate(&id, to, true).await.status, 400);
    assert_eq!(two.member.delete(&format!("/volumes/{id}")).await.status, 400);
    two.hand.release();
    assert_eq!(two.until_moved(&id, "success").await["status"], "available");
}

#[tokio::test]
async fn a_compute_service_that_swapped_two_volumes_is_told_which_stays() {
    let two = Two::start().await;
    let (old, new) = (anywhere(&two).await, anywhere(&two).await);
    let completion = async |id: &str, new: Value| act(&two.operator, id, "os-migrate_volume_completion", new).await;
    let ask = json!({ "new_volume": new, "error": false });
    assert_eq!(completion(&old, ask.clone()).await.expect(200), json!({ "save_volume_id": new }));
    assert_eq!(act(&two.member, &old, "os-migrate_volume_completion", ask.clone()).await.status, 403);
    assert_eq!(completion(&old, json!({ "new_volume": uuid() })).await.status, 404);
    assert_eq!(completion(&old, json!({ "new_volume": "x" })).await.status, 400);
    act(&two.operator, &old, "os-reset_status", json!({ "migration_status": "migrating" })).await.expect(202);
    assert!(completion(&old, ask.clone()).await.fault(400).contains("Destination volume not mid-migration"));
    act(&two.operator, &old, "os-reset_status", json!({ "migration_status": "none" })).await.expect(202);
    act(&two.operator, &new, "os-reset_status", json!({ "migration_status": "migrating" })).await.expect(202);
    assert!(completion(&old, ask).await.fault(400).contains("Source volume not mid-migration"));
}

#[tokio::test]
async fn an_operator_sees_how_far_a_copy_is() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    let admin = two.site.app.admin(support::Persona::Admin).await;
    let path = format!("/jobs?kind=volume.migrate&resource_id={id}");
    admin.until(&path, |a| a.body()["jobs"][0]["reason"] == "copying, 42 %").await;
    two.hand.release();
    two.until_moved(&id, "success").await;
}
