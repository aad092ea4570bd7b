//! A retype that needs another object.

use serde_json::json;

use super::{Two, name_id};
use crate::array::Fault;
use crate::site::{attach, detach};
use crate::snapshots::snapshot;
use crate::volume_actions::{act, quota_is_true};

#[tokio::test]
async fn a_retype_on_demand_takes_the_volume_and_its_bytes_to_another_back_end() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.a().write(&id, "precious");
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    two.until_copying().await;
    let v = two.shown(&id).await;
    assert_eq!((&v["status"], &v["volume_type"], &v["migration_status"]), (&json!("retyping"), &json!("a"), &json!("migrating")));
    assert!(two.member.get(&format!("/volumes/{id}")).await.expect(200)["volume"].get("migration_status").is_none());
    // both types count meanwhile
    assert_eq!((two.site.used(&two.member, "gigabytes_a").await, two.site.used(&two.member, "gigabytes_b").await), (3, 3));
    quota_is_true(&two.site).await;
    two.hand.release();
    let v = two.until_moved(&id, "success").await;
    assert_eq!((&v["status"], &v["volume_type"]), (&json!("available"), &json!("b")));
    assert_eq!((&v["os-vol-host-attr:host"], &v["os-vol-mig-status-attr:migstat"]), (&json!("stowage@b#p1"), &json!("success")));
    assert_eq!(v["id"], json!(id));
    let new = name_id(&v);
    assert_eq!(two.b.content(&new), "precious");
    two.hold(&[], &[&new]).await;
    two.lies_on(&id, "stowage@b#p1", Some(&new)).await;
    let shown = two.operator.at("3.48").get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    let services = two.operator.get("/os-services").await.expect(200);
    assert!(services["services"].as_array().unwrap().iter().any(|s| s["host"] == "stowage@b"));
    assert_eq!(shown["provider_id"], json!(format!("lun-{new}")));
    let row = two.site.app.app().store.volume(&id).await.unwrap().unwrap();
    let backend = two.site.app.app().store.backend("stowage@b").await.unwrap().unwrap();
    assert_eq!((row.service_uuid, row.backend_name), (Some(backend.service_uuid), Some(backend.backend_name)));
}

#[tokio::test]
async fn drivers_know_a_volume_that_moved_by_its_new_name() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.retype(&id, "on-demand").await.expect(202);
    let new = name_id(&two.until_moved(&id, "success").await);
    let attachment = attach(&two.member, &id, "c1").await;
    assert_eq!(two.b.hosts_of(&new), ["c1"]);
    detach(&two.member, &attachment).await.expect(200);
    let s = snapshot(&two.member, &id).await;
    two.member.delete(&format!("/snapshots/{s}")).await.expect(202);
    two.member.until_gone(&format!("/snapshots/{s}")).await;
    act(&two.member, &id, "os-extend", json!({ "new_size": 5 })).await.expect(202);
    two.member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["size"] == 5).await;
    assert_eq!(two.b.size(&new), Some(5));
    two.member.delete(&format!("/volumes/{id}")).await.expect(202);
    two.member.until_gone(&format!("/volumes/{id}")).await;
    two.hold(&[], &[]).await;
}

#[tokio::test]
async fn a_driver_that_would_have_to_copy_gets_a_new_object_on_the_same_back_end() {
    let two = Two::start().await;
    let body = json!({ "volume_type": { "name": "gold", "extra_specs": { "volume_backend_name": "a", "vendor:tier": "gold" } } });
    two.operator.post("/types", body).await.expect(200);
    let id = two.volume().await;
    two.a().write(&id, "precious");
    // the fixture's word for "needs migration"
    two.a().fault("retype", Fault::Pending(0));
    act(&two.member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "on-demand" })).await.expect(202);
    let v = two.until_moved(&id, "success").await;
    assert_eq!((&v["volume_type"], &v["os-vol-host-attr:host"]), (&json!("gold"), &json!("stowage@a#p1")));
    let new = name_id(&v);
    assert_ne!(new, id);
    two.hold(&[&new], &[]).await;
    assert_eq!(two.a().content(&new), "precious");
    two.lies_on(&id, "stowage@a#p1", Some(&new)).await;
}

#[tokio::test]
async fn a_driver_without_the_verb_is_helped_by_a_copy_if_that_was_permitted() {
    let two = Two::start().await;
    let body = json!({ "volume_type": { "name": "gold", "extra_specs": { "volume_backend_name": "a", "vendor:tier": "gold" } } });
    two.operator.post("/types", body).await.expect(200);
    two.a().lacks("volume-retype");
    two.site.serve("stowage@a", two.a()).await;
    let id = two.volume().await;
    act(&two.member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "never" })).await.expect(202);
    assert!(two.until_told(&id).await.starts_with("retype volume:"));
    two.member.volume_until(&id, "available").await;
    assert_eq!(two.hand.begun(), 0);
    act(&two.member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "on-demand" })).await.expect(202);
    assert_eq!(two.until_moved(&id, "success").await["volume_type"], "gold");
}
