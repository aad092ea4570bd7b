//! Another type in place: what counts for which type at every moment, and what is refused.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::{Answer, Client};

use crate::{
    array::Fault,
    site::{Site, attach},
    snapshots::snapshot,
    volume_actions::{act, quota_is_true},
};

async fn make_type(site: &Site, name: &str, specs: Value) {
    let body = json!({ "volume_type": { "name": name, "extra_specs": specs } });
    site.operator().await.post("/types", body).await.expect(200);
}

async fn retype(client: &Client, volume: &str, to: &str) -> Answer {
    act(client, volume, "os-retype", json!({ "new_type": to, "migration_policy": "never" })).await
}

async fn until_type(client: &Client, volume: &str, name: &str) -> Value {
    client
        .until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["volume_type"] == name && a.body()["volume"]["status"] != "retyping")
        .await
        .body()["volume"]
        .clone()
}

#[tokio::test]
async fn a_retyped_volume_has_the_new_type_and_its_snapshots_count_with_it() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume_with(json!({ "size": 2 })).await;
    let s = snapshot(&member, &id).await;
    site.array.hold("retype");
    retype(&member, &id, "gold").await.expect(202);
    let v = member.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    assert_eq!((&v["status"], &v["volume_type"]), (&json!("retyping"), &json!("__DEFAULT__")));
    // both types count meanwhile, the project's own figures once
    assert_eq!((site.used(&member, "volumes_gold").await, site.used(&member, "gigabytes_gold").await), (1, 4));
    assert_eq!((site.used(&member, "volumes___DEFAULT__").await, site.used(&member, "gigabytes").await), (1, 4));
    quota_is_true(&site).await;
    // a snapshot that goes meanwhile goes from both
    member.delete(&format!("/snapshots/{s}")).await.expect(202);
    site.array.release("retype");
    assert_eq!(until_type(&member, &id, "gold").await["status"], "available");
    member.until_gone(&format!("/snapshots/{s}")).await;
    assert_eq!(site.array.spec(&id, "vendor:tier").as_deref(), Some("gold"));
    assert_eq!((site.used(&member, "volumes___DEFAULT__").await, site.used(&member, "gigabytes___DEFAULT__").await), (0, 0));
    assert_eq!((site.used(&member, "gigabytes_gold").await, site.used(&member, "snapshots_gold").await), (2, 0));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn types_with_the_same_specs_need_no_driver() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "twin", json!({})).await;
    let id = site.volume().await;
    site.array.lacks("volume-retype");
    site.serve("stowage@a", &site.array).await;
    retype(&member, &id, "twin").await.expect(202);
    assert_eq!(until_type(&member, &id, "twin").await["status"], "available");
    assert_eq!(site.array.count("retype"), 0);
}

#[tokio::test]
async fn what_cannot_be_retyped_is_refused_with_a_reason() {
    let site = Site::start_with(|c| c.quota.volumes = 5).await;
    let (member, operator) = (site.member().await, site.operator().await);
    make_type(&site, "red", json!({ "color": "red" })).await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume().await;
    let never = retype(&member, &id, "red").await.fault(400);
    assert!(never.contains("Retype requires migration") && never.contains("policy is never"), "{never}");
    assert!(retype(&member, &id, "__DEFAULT__").await.fault(400).contains("different"));
    assert_eq!(retype(&member, &id, "nope").await.status, 404);
    assert_eq!(act(&member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "maybe" })).await.status, 400);
    assert_eq!(act(&member, &id, "os-retype", json!({})).await.status, 400);
    act(&operator, &id, "os-reset_status", json!({ "status": "error" })).await.expect(202);
    assert!(retype(&member, &id, "gold").await.fault(400).contains("available or in-use"));
    act(&operator, &id, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    // the new type's own quota
    let limits = json!({ "quota_set": { "volumes_gold": 0 } });
    operator.put(&format!("/os-quota-sets/{}", member.project_id), limits).await.expect(200);
    assert!(retype(&member, &id, "gold").await.fault(413).contains("volumes_gold"));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_driver_that_would_have_to_copy_leaves_the_old_type_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume().await;
    // the fixture's word for "needs migration"
    site.array.fault("retype", Fault::Pending(0));
    retype(&member, &id, "gold").await.expect(202);
    let told = member.at("3.5").until(&format!("/messages?resource_uuid={id}"), |a| a.body()["messages"][0].is_object()).await.body();
    assert!(told["messages"][0]["user_message"].as_str().unwrap().contains("needs the volume to be copied"), "{told}");
    assert_eq!(until_type(&member, &id, "__DEFAULT__").await["status"], "available");
    assert_eq!(site.used(&member, "volumes_gold").await, 0);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_failed_retype_of_an_attached_volume_leaves_it_in_use_with_its_old_type() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    site.array.fault("retype", Fault::Refuse(ErrorKind::Unsupported));
    retype(&member, &id, "gold").await.expect(202);
    let told = member.at("3.5").until(&format!("/messages?resource_uuid={id}"), |a| a.body()["messages"][0].is_object()).await.body();
    assert!(told["messages"][0]["user_message"].as_str().unwrap().starts_with("retype volume:"), "{told}");
    assert_eq!(until_type(&member, &id, "__DEFAULT__").await["status"], "in-use");
    retype(&member, &id, "gold").await.expect(202);
    assert_eq!(until_type(&member, &id, "gold").await["status"], "in-use");
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_retype_to_multi_attach_and_back_needs_an_available_volume() {
    let site = Site::start().await;
    let member = site.member().await;
    let multi = site.multiattach_type().await;
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    let text = retype(&member, &id, &multi).await.fault(400);
    assert!(text.contains("only allowed on available volumes"), "{text}");
    let other = site.volume().await;
    site.array.fault("retype", Fault::Refuse(ErrorKind::Unsupported));
    retype(&member, &other, &multi).await.expect(202);
    // only a retype that took place makes it so
    let v = until_type(&member, &other, "__DEFAULT__").await;
    assert_eq!((&v["multiattach"], &v["status"]), (&json!(false), &json!("available")));
    retype(&member, &other, &multi).await.expect(202);
    assert_eq!(until_type(&member, &other, &multi).await["multiattach"], true);
    retype(&member, &other, "__DEFAULT__").await.expect(202);
    assert_eq!(until_type(&member, &other, "__DEFAULT__").await["multiattach"], false);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn the_type_that_a_volume_shall_get_cannot_go_meanwhile() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let types = operator.get("/types").await.expect(200);
    let gold = types["volume_types"].as_array().unwrap().iter().find(|t| t["name"] == "gold").unwrap()["id"].as_str().unwrap().to_owned();
    let id = site.volume().await;
    site.array.hold("retype");
    retype(&member, &id, &gold).await.expect(202);
    assert!(operator.delete(&format!("/types/{gold}")).await.fault(400).contains("in use"));
    site.array.release("retype");
    until_type(&member, &id, "gold").await;
}

/// The one message about a volume, once it is there.
async fn message(client: &Client, volume: &str) -> String {
    let told = client.at("3.5").until(&format!("/messages?resource_uuid={volume}"), |a| a.body()["messages"][0].is_object()).await.body();
    told["messages"][0]["user_message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_retype_of_which_nothing_is_known_is_repeated_and_then_undone() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume().await;
    // once: the repeat finds it done
    site.array.fault("retype", Fault::LoseAnswer(ErrorKind::Transient));
    retype(&member, &id, "gold").await.expect(202);
    until_type(&member, &id, "gold").await;
    // for good: it is put back
    for _ in 0..3 {
        site.array.fault("retype", Fault::LoseAnswer(ErrorKind::Transient));
    }
    retype(&member, &id, "__DEFAULT__").await.expect(202);
    let told = message(&member, &id).await;
    assert_eq!(until_type(&member, &id, "gold").await["status"], "available");
    assert_eq!(site.array.spec(&id, "vendor:tier").as_deref(), Some("gold"), "the array has the old type again");
    assert!(!told.contains("may have given"), "{told}");
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_retype_that_cannot_be_undone_either_says_so() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume().await;
    for _ in 0..3 {
        site.array.fault("retype", Fault::LoseAnswer(ErrorKind::Transient));
    }
    site.array.fault("retype", Fault::Refuse(ErrorKind::Transient));
    retype(&member, &id, "gold").await.expect(202);
    let told = message(&member, &id).await;
    assert!(told.contains("may have given it properties of the new type"), "{told}");
    assert_eq!(until_type(&member, &id, "__DEFAULT__").await["status"], "available");
    assert_eq!(site.array.spec(&id, "vendor:tier").as_deref(), Some("gold"));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn what_takes_a_retype_back_is_newer_than_the_retype_that_comes_late() {
    let site = Site::start().await;
    let member = site.member().await;
    make_type(&site, "gold", json!({ "vendor:tier": "gold" })).await;
    let id = site.volume().await;
    for _ in 0..3 {
        site.array.fault("retype", Fault::Late(ErrorKind::Transient));
    }
    retype(&member, &id, "gold").await.expect(202);
    let told = message(&member, &id).await;
    assert!(!told.contains("may have given"), "{told}");
    assert_eq!(until_type(&member, &id, "__DEFAULT__").await["status"], "available");
    assert_eq!((site.array.count("retype"), site.array.spec(&id, "vendor:tier")), (4, None), "the array has the old type");
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_pools_function_sees_of_an_extend_a_snapshot_and_a_retype_what_it_sees_of_a_create() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for (name, specs) in [("silver", json!({ "vendor:tier": "silver" })), ("gold", json!({ "vendor:tier": "gold" }))] {
        let made = operator.post("/types", json!({ "volume_type": { "name": name, "extra_specs": specs } })).await.expect(200);
        let body = json!({ "qos_specs": { "name": name, "iops": "5" } });
        let qos = operator.post("/qos-specs", body).await.expect(200)["qos_specs"]["id"].as_str().unwrap().to_owned();
        let type_id = made["volume_type"]["id"].as_str().unwrap();
        operator.get(&format!("/qos-specs/{qos}/associate?vol_type_id={type_id}")).await.expect(202);
    }
    make_type(&site, "plain", json!({ "vendor:tier": "plain" })).await;
    let function =
        format!("(qos.iops == 5) and (volume.availability_zone == \"nova\") and (volume.project_id == \"{}\")", member.project_id);
    site.array.report(|r| r.pools[0].filter_function = Some(function));
    site.serve("stowage@a", &site.array).await;
    let id = site.volume_with(json!({ "volume_type": "silver" })).await;
    act(&member, &id, "os-extend", json!({ "new_size": 2 })).await.expect(202);
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["size"] == 2).await;
    member.volume_until(&id, "available").await;
    snapshot(&member, &id).await;
    retype(&member, &id, "gold").await.expect(202);
    assert_eq!(until_type(&member, &id, "gold").await["status"], "available");
    assert!(retype(&member, &id, "plain").await.fault(400).contains("filter function"));
}
