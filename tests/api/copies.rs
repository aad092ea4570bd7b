//! Volumes made from snapshots and from volumes: beside their source, at least as large, and the source stays meanwhile.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::{Client, Persona};

use crate::{
    array::{Array, Fault},
    site::{Site, attach, uuid},
    snapshots::{snapshot, until},
    volume_actions::{act, quota_is_true},
};

/// A copy, accepted; as it was answered.
async fn copy(client: &Client, members: Value) -> Value {
    client.post("/volumes", json!({ "volume": members })).await.expect(202)["volume"].clone()
}

async fn shown(client: &Client, id: &str) -> Value {
    client.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone()
}

#[tokio::test]
async fn a_volume_from_a_snapshot_holds_what_the_snapshot_holds() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume_with(json!({ "size": 2 })).await;
    act(&member, &source, "os-set_bootable", json!({ "bootable": true })).await.expect(200);
    site.array.write(&source, "then");
    let s = snapshot(&member, &source).await;
    site.array.write(&source, "now");
    let made = copy(&member, json!({ "snapshot_id": s })).await;
    // size, type and zone are the source's
    assert_eq!((&made["size"], &made["snapshot_id"], &made["bootable"]), (&json!(2), &json!(s), &json!("true")));
    assert_eq!((&made["volume_type"], &made["source_volid"]), (&json!("__DEFAULT__"), &Value::Null));
    let id = made["id"].as_str().unwrap();
    member.volume_until(id, "available").await;
    assert_eq!(site.array.content(id), "then");
    let larger = copy(&member, json!({ "snapshot_id": s, "size": 5 })).await;
    member.volume_until(larger["id"].as_str().unwrap(), "available").await;
    assert_eq!(shown(&member, larger["id"].as_str().unwrap()).await["size"], 5);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_clone_holds_what_its_source_holds_also_of_an_attached_one() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume_with(json!({ "size": 2 })).await;
    site.array.write(&source, "data");
    attach(&member, &source, "c1").await;
    let made = copy(&member, json!({ "source_volid": source })).await;
    assert_eq!((&made["size"], &made["source_volid"]), (&json!(2), &json!(source)));
    let id = made["id"].as_str().unwrap();
    member.volume_until(id, "available").await;
    assert_eq!(site.array.content(id), "data");
    // an operator finds the copies of a volume
    let operator = site.operator().await;
    let found = operator.get(&format!("/volumes?all_tenants=1&source_volid={source}")).await.expect(200);
    assert_eq!((found["volumes"].as_array().unwrap().len(), &found["volumes"][0]["id"]), (1, &json!(id)));
}

#[tokio::test]
async fn copies_lie_on_the_pool_of_their_source() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let source = site.volume().await;
    let s = snapshot(&member, &source).await;
    // another back end with as much room
    let other = Array::new(&["q1", "q2", "q3"]);
    site.serve("stowage@b", &other).await;
    for n in 0..4 {
        let members = if n % 2 == 0 { json!({ "snapshot_id": s }) } else { json!({ "source_volid": source }) };
        let id = copy(&member, members).await["id"].as_str().unwrap().to_owned();
        member.volume_until(&id, "available").await;
        assert_eq!(shown(&operator, &id).await["os-vol-host-attr:host"], "stowage@a#p1");
    }
    assert_eq!(other.volumes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_volume_does_not_grow_while_it_is_copied() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume().await;
    site.array.hold("clone");
    let made = copy(&member, json!({ "source_volid": source })).await;
    assert!(act(&member, &source, "os-extend", json!({ "new_size": 2 })).await.fault(400).contains("being copied"));
    site.array.release("clone");
    member.volume_until(made["id"].as_str().unwrap(), "available").await;
    act(&member, &source, "os-extend", json!({ "new_size": 2 })).await.expect(202);
    member.volume_until(&source, "available").await;
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_copy_is_not_smaller_nor_elsewhere_and_has_one_source() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume_with(json!({ "size": 2 })).await;
    let s = snapshot(&member, &source).await;
    let refused = |members: Value| {
        let member = member.clone();
        async move { member.post("/volumes", json!({ "volume": members })).await }
    };
    assert!(refused(json!({ "snapshot_id": s, "size": 1 })).await.fault(400).contains("cannot be smaller than the snapshot size 2GB"));
    assert!(refused(json!({ "source_volid": source, "size": 1 })).await.fault(400).contains("cannot be smaller than the volume size 2GB"));
    assert!(refused(json!({ "source_volid": source, "availability_zone": "moon" })).await.fault(400).contains("same availability zone"));
    assert!(refused(json!({ "source_volid": source, "snapshot_id": s })).await.fault(400).contains("only one"));
    assert_eq!(refused(json!({ "snapshot_id": uuid() })).await.status, 404);
    assert_eq!(refused(json!({ "source_volid": uuid() })).await.status, 404);
    assert_eq!(refused(json!({ "source_volid": source, "volume_type": "nope" })).await.status, 404);
    // another project's are not there
    let stranger = site.block(Persona::Stranger).await;
    for members in [json!({ "snapshot_id": s }), json!({ "source_volid": source })] {
        assert_eq!(stranger.post("/volumes", json!({ "volume": members })).await.status, 404);
    }
    let operator = site.operator().await;
    act(&operator, &source, "os-reset_status", json!({ "status": "error" })).await.expect(202);
    assert!(refused(json!({ "source_volid": source })).await.fault(400).contains("available or in-use"));
    operator.post(&format!("/snapshots/{s}/action"), json!({ "os-reset_status": { "status": "error" } })).await.expect(202);
    assert!(refused(json!({ "snapshot_id": s })).await.fault(400).contains("'available'"));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn the_source_stays_while_it_is_copied() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let source = site.volume().await;
    let s = snapshot(&member, &source).await;
    site.array.hold("from-snapshot");
    let id = copy(&member, json!({ "snapshot_id": s })).await["id"].as_str().unwrap().to_owned();
    site.until("the copy to begin", || async { site.array.count("from-snapshot") == 1 }).await;
    assert!(member.delete(&format!("/snapshots/{s}")).await.fault(400).contains("is being copied"));
    assert!(
        operator.post(&format!("/snapshots/{s}/action"), json!({ "os-force_delete": {} })).await.fault(400).contains("is being copied")
    );
    assert!(member.delete(&format!("/volumes/{source}?cascade=true")).await.fault(400).contains("is being copied"));
    site.array.release("from-snapshot");
    member.volume_until(&id, "available").await;
    site.array.hold("clone");
    let twin = copy(&member, json!({ "source_volid": id })).await["id"].as_str().unwrap().to_owned();
    site.until("the clone to begin", || async { site.array.count("clone") == 1 }).await;
    assert!(member.delete(&format!("/volumes/{id}")).await.fault(400).contains("is being copied"));
    assert!(act(&operator, &id, "os-force_delete", json!({})).await.fault(400).contains("is being copied"));
    site.array.release("clone");
    member.volume_until(&twin, "available").await;
    // and then it may go; the copy still says what it was made from
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
    assert_eq!(shown(&member, &twin).await["source_volid"], json!(id));
    member.delete(&format!("/volumes/{source}?cascade=true")).await.expect(202);
    member.until_gone(&format!("/volumes/{source}")).await;
    assert_eq!(site.array.volumes(), [twin]);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_driver_that_cannot_copy_ends_in_error_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume().await;
    let s = snapshot(&member, &source).await;
    site.array.lacks("volume-from-snapshot");
    site.array.lacks("volume-clone");
    site.serve("stowage@a", &site.array).await;
    let second = Array::new(&["q"]);
    site.serve("stowage@b", &second).await;
    for members in [json!({ "snapshot_id": s }), json!({ "source_volid": source })] {
        let id = copy(&member, members).await["id"].as_str().unwrap().to_owned();
        member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
        let told = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
        let m = &told["messages"][0];
        assert_eq!(m["event_id"], "VOLUME_VOLUME_008_012");
        assert!(m["user_message"].as_str().unwrap().contains("cannot do this"), "{m}");
        member.delete(&format!("/volumes/{id}")).await.expect(202);
        member.until_gone(&format!("/volumes/{id}")).await;
    }
    assert_eq!((site.array.volumes(), second.volumes()), (vec![source], Vec::new()));
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_copy_that_fails_leaves_nothing_and_frees_its_source() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume().await;
    for _ in 0..3 {
        site.array.fault("clone", Fault::LoseAnswer(ErrorKind::Internal));
    }
    let id = copy(&member, json!({ "source_volid": source })).await["id"].as_str().unwrap().to_owned();
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    site.until("the clean-up", || async { site.array.volumes() == [source.clone()] }).await;
    member.delete(&format!("/volumes/{source}")).await.expect(202);
    member.until_gone(&format!("/volumes/{source}")).await;
}

#[tokio::test]
async fn a_lost_answer_of_a_copy_is_repeated_and_makes_one_volume() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume().await;
    let s = snapshot(&member, &source).await;
    site.array.fault("from-snapshot", Fault::LoseAnswer(ErrorKind::Transient));
    let id = copy(&member, json!({ "snapshot_id": s })).await["id"].as_str().unwrap().to_owned();
    member.volume_until(&id, "available").await;
    assert_eq!(site.array.count("from-snapshot"), 2);
    assert_eq!(site.array.volumes().len(), 2);
    until(&member, &s, "available").await;
}

#[tokio::test]
async fn a_type_of_its_own_must_suit_the_sources_pool() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    operator.post("/types", json!({ "volume_type": { "name": "plain" } })).await.expect(200);
    let body = json!({ "volume_type": { "name": "impossible", "extra_specs": { "color": "red" } } });
    operator.post("/types", body).await.expect(200);
    let source = site.volume().await;
    let id = copy(&member, json!({ "source_volid": source, "volume_type": "plain" })).await["id"].as_str().unwrap().to_owned();
    assert_eq!(member.volume_until(&id, "available").await["volume_type"], "plain");
    let id = copy(&member, json!({ "source_volid": source, "volume_type": "impossible" })).await["id"].as_str().unwrap().to_owned();
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    quota_is_true(&site).await;
}
