//! What is done to a volume where it lies: extend, revert, flags, what operators say it is.

use serde_json::{Value, json};
use stowage::{
    driver::{ErrorKind, capability::Capacity},
    store::sql::quota_count::is_counted,
};
use support::{Client, Persona};

use crate::{
    array::{Fault, pool},
    site::{Site, attach, create, detach, uuid},
    snapshots::{snapshot, take, until},
};

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

#[tokio::test]
async fn an_extended_volume_shows_extending_and_then_its_new_size() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    site.array.hold("extend");
    extend(&member, &id, 3).await.expect(202);
    let v = shown(&member, &id).await;
    assert_eq!((&v["status"], &v["size"]), (&json!("extending"), &json!(1)));
    // it counts from now on
    assert_eq!((site.used(&member, "gigabytes").await, site.used(&member, "gigabytes___DEFAULT__").await), (3, 3));
    quota_is_true(&site).await;
    assert!(extend(&member, &id, 4).await.fault(400).contains("extending"));
    assert_eq!(member.delete(&format!("/volumes/{id}")).await.status, 400);
    site.array.release("extend");
    assert_eq!(until_status(&member, &id, "available").await["size"], 3);
    assert_eq!(site.array.size(&id), Some(3));
    quota_is_true(&site).await;
    let allocated = site.app.app().store.allocation(&id).await.unwrap().unwrap();
    assert_eq!(allocated.gib, 3);
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
    assert_eq!(site.used(&member, "gigabytes").await, 0);
}

#[tokio::test]
async fn only_a_larger_size_is_an_extend() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume_with(json!({ "size": 2 })).await;
    for same_or_less in [1, 2] {
        assert!(extend(&member, &id, same_or_less).await.fault(400).contains("must be greater than current size"));
    }
    for bad in [json!(0), json!(-1), json!("x"), json!(1.5), json!(null), json!(true), json!(u64::MAX)] {
        assert_eq!(act(&member, &id, "os-extend", json!({ "new_size": bad })).await.status, 400, "{bad}");
    }
    assert_eq!(act(&member, &id, "os-extend", json!({})).await.status, 400);
    assert_eq!(extend(&member, &uuid(), 3).await.status, 404);
    assert_eq!(extend(&site.block(Persona::Stranger).await, &id, 3).await.status, 404);
    assert_eq!(extend(&site.block(Persona::Reader).await, &id, 3).await.status, 403);
    assert_eq!(shown(&member, &id).await["size"], 2);
}

#[tokio::test]
async fn an_attached_volume_is_extended_from_3_42_where_the_pool_can() {
    let site = Site::start().await;
    let member = site.member().await;
    pool_of(&site, 100.0, true).await;
    let id = site.volume().await;
    let attachment = attach(&member, &id, "c1").await;
    assert!(extend(&member.at("3.41"), &id, 2).await.fault(400).contains("'available'"));
    extend(&member.at("3.42"), &id, 2).await.expect(202);
    assert_eq!(until_status(&member, &id, "in-use").await["size"], 2);
    // detached while it is extended: it is available when both have ended
    site.array.hold("extend");
    extend(&member.at("3.42"), &id, 3).await.expect(202);
    site.until("the extend to begin", || async { site.array.count("extend") == 2 }).await;
    let (client, detached) = (member.at("3.44").clone(), attachment.clone());
    let going = tokio::spawn(async move { detach(&client, &detached).await });
    site.array.release("extend");
    going.await.unwrap();
    assert_eq!(until_status(&member, &id, "available").await["size"], 3);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn an_attached_volume_is_not_extended_where_the_pool_cannot() {
    let site = Site::start().await;
    let member = site.member().await.at("3.42");
    pool_of(&site, 100.0, false).await;
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    extend(&member, &id, 2).await.expect(202);
    let v = shown(&member, &id).await;
    assert_eq!((&v["status"], &v["size"]), (&json!("in-use"), &json!(1)));
    let told = messages(&member, &id).await;
    assert_eq!(told[0]["event_id"], "VOLUME_VOLUME_007_003");
    assert!(told[0]["user_message"].as_str().unwrap().contains("cannot grow attached volumes"), "{told:?}");
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_full_pool_leaves_the_volume_as_it_was_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await;
    pool_of(&site, 10.0, true).await;
    let id = site.volume_with(json!({ "size": 4 })).await;
    extend(&member, &id, 20).await.expect(202);
    let v = shown(&member, &id).await;
    assert_eq!((&v["status"], &v["size"]), (&json!("available"), &json!(4)));
    let told = messages(&member, &id).await;
    assert_eq!((&told[0]["event_id"], told.len()), (&json!("VOLUME_VOLUME_007_003"), 1));
    assert_eq!((site.used(&member, "gigabytes").await, site.array.count("extend")), (4, 0));
    quota_is_true(&site).await;
    extend(&member, &id, 6).await.expect(202);
    assert_eq!(until_status(&member, &id, "available").await["size"], 6);
}

#[tokio::test]
async fn an_extend_beyond_the_quota_is_413_and_changes_nothing() {
    let site = Site::start_with(|c| {
        c.quota.gigabytes = 5;
        c.quota.per_volume_gigabytes = 8;
    })
    .await;
    let member = site.member().await;
    let id = site.volume_with(json!({ "size": 2 })).await;
    assert!(extend(&member, &id, 9).await.fault(413).starts_with("VolumeSizeExceedsLimit: "));
    let text = extend(&member, &id, 6).await.fault(413);
    assert!(text.starts_with("VolumeSizeExceedsAvailableQuota: ") && text.contains("exceed"), "{text}");
    let v = shown(&member, &id).await;
    assert_eq!((&v["status"], &v["size"]), (&json!("available"), &json!(2)));
    extend(&member, &id, 5).await.expect(202);
    until_status(&member, &id, "available").await;
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_failed_extend_ends_in_error_extending_with_its_old_size_and_quota() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    site.array.fault("extend", Fault::Refuse(ErrorKind::Exhausted));
    extend(&member, &id, 5).await.expect(202);
    assert_eq!(until_status(&member, &id, "error_extending").await["size"], 1);
    let told = messages(&member, &id).await;
    assert_eq!(told[0]["event_id"], "VOLUME_VOLUME_007_010");
    assert_eq!(site.used(&member, "gigabytes").await, 1);
    assert_eq!(site.app.app().store.allocation(&id).await.unwrap().unwrap().gib, 1);
    quota_is_true(&site).await;
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
}

#[tokio::test]
async fn an_extend_whose_outcome_is_unknown_gives_its_figures_back_too() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    for _ in 0..3 {
        site.array.fault("extend", Fault::LoseAnswer(ErrorKind::Internal));
    }
    extend(&member, &id, 5).await.expect(202);
    assert_eq!(until_status(&member, &id, "error_extending").await["size"], 1);
    assert_eq!(site.app.app().store.allocation(&id).await.unwrap().unwrap().gib, 1);
    assert_eq!(site.array.count("extend"), 3);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_pending_extend_is_asked_for_until_it_is_done() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    site.array.fault("extend", Fault::Pending(2));
    extend(&member, &id, 2).await.expect(202);
    assert_eq!(until_status(&member, &id, "available").await["size"], 2);
    assert_eq!((site.array.count("extend"), site.array.count("poll")), (1, 3));
}

#[tokio::test]
async fn an_extend_that_an_operator_hid_keeps_its_room_whatever_else_is_asked() {
    let site = Site::start().await;
    pool_of(&site, 10.0, true).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    site.array.hold("extend");
    extend(&member, &id, 3).await.expect(202);
    act(&operator, &id, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    // one that would fit, and one that would not
    for size in [4, 500] {
        assert!(extend(&member, &id, size).await.fault(400).contains("being changed"));
    }
    site.array.release("extend");
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["size"] == 3).await;
    assert_eq!(site.app.app().store.allocation(&id).await.unwrap().unwrap().gib, 3);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn a_forced_delete_of_a_volume_being_extended_leaves_no_figure_behind() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    site.array.hold("extend");
    extend(&member, &id, 5).await.expect(202);
    act(&operator, &id, "os-force_delete", json!({})).await.expect(202);
    site.array.release("extend");
    member.until_gone(&format!("/volumes/{id}")).await;
    assert_eq!(site.used(&member, "gigabytes").await, 0);
    quota_is_true(&site).await;
    assert!(site.array.volumes().is_empty());
}

#[tokio::test]
async fn a_volume_is_reverted_to_its_latest_snapshot() {
    let site = Site::start().await;
    let member = site.member().await.at("3.40");
    let id = site.volume().await;
    site.array.write(&id, "first");
    let earlier = snapshot(&member, &id).await;
    site.array.write(&id, "second");
    let latest = snapshot(&member, &id).await;
    site.array.write(&id, "third");
    let revert = |s: &str| json!({ "snapshot_id": s });
    assert!(act(&member, &id, "revert", revert(&earlier)).await.fault(400).contains("not the latest"));
    site.array.hold("revert");
    act(&member, &id, "revert", revert(&latest)).await.expect(202);
    assert_eq!(shown(&member, &id).await["status"], "reverting");
    assert_eq!(member.get(&format!("/snapshots/{latest}")).await.expect(200)["snapshot"]["status"], "restoring");
    assert_eq!(member.delete(&format!("/snapshots/{latest}")).await.status, 400);
    assert_eq!(act(&member, &id, "revert", revert(&latest)).await.status, 409);
    site.array.release("revert");
    until_status(&member, &id, "available").await;
    until(&member, &latest, "available").await;
    assert_eq!(site.array.content(&id), "second");
    // from 3.40, with an id, for a volume that has one of its size
    assert_eq!(act(&member.at("3.39"), &id, "revert", revert(&latest)).await.status, 404);
    assert_eq!(act(&member, &id, "revert", json!({})).await.status, 400);
    extend(&member, &id, 2).await.expect(202);
    until_status(&member, &id, "available").await;
    assert!(act(&member, &id, "revert", revert(&latest)).await.fault(400).contains("must be equal"));
    let other = site.volume().await;
    assert!(act(&member, &other, "revert", revert(&latest)).await.fault(400).contains("any snapshots"));
}

#[tokio::test]
async fn a_revert_of_an_attached_volume_is_a_conflict() {
    let site = Site::start().await;
    let member = site.member().await.at("3.44");
    let id = site.volume().await;
    let latest = snapshot(&member, &id).await;
    attach(&member, &id, "c1").await;
    let text = act(&member, &id, "revert", json!({ "snapshot_id": latest })).await.fault(409);
    assert!(text.contains("must be available"), "{text}");
}

#[tokio::test]
async fn a_revert_that_did_nothing_leaves_the_volume_available_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await.at("3.40");
    let id = site.volume().await;
    let latest = snapshot(&member, &id).await;
    site.array.lacks("volume-revert");
    site.serve("stowage@a", &site.array).await;
    act(&member, &id, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    until_status(&member, &id, "available").await;
    until(&member, &latest, "available").await;
    let told = messages(&member, &id).await;
    assert!(told[0]["user_message"].as_str().unwrap().contains("cannot do this"), "{told:?}");
}

#[tokio::test]
async fn a_revert_whose_outcome_is_unknown_ends_in_error_and_its_snapshot_is_available() {
    let site = Site::start().await;
    let member = site.member().await.at("3.40");
    let id = site.volume().await;
    let latest = snapshot(&member, &id).await;
    for _ in 0..3 {
        site.array.fault("revert", Fault::LoseAnswer(ErrorKind::Internal));
    }
    act(&member, &id, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    until_status(&member, &id, "error").await;
    until(&member, &latest, "available").await;
    assert_eq!(messages(&member, &id).await.len(), 1);
}

#[tokio::test]
async fn the_bootable_flag_is_set_and_shown() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    for (said, shows) in [(json!(true), "true"), (json!("False"), "false"), (json!("1"), "true")] {
        act(&member, &id, "os-set_bootable", json!({ "bootable": said })).await.expect(200);
        assert_eq!(shown(&member, &id).await["bootable"], shows);
    }
    for bad in [json!({}), json!({ "bootable": "perhaps" }), json!({ "bootable": 3 })] {
        assert_eq!(act(&member, &id, "os-set_bootable", bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(act(&site.block(Persona::Reader).await, &id, "os-set_bootable", json!({ "bootable": true })).await.status, 403);
}

#[tokio::test]
async fn a_readonly_volume_is_attached_to_be_read_only() {
    let site = Site::start().await;
    let member = site.member().await.at("3.54");
    let id = site.volume_with(json!({ "metadata": { "k": "v" } })).await;
    assert_eq!(shown(&member, &id).await["metadata"], json!({ "k": "v" }));
    act(&member, &id, "os-update_readonly_flag", json!({ "readonly": true })).await.expect(202);
    assert_eq!(shown(&member, &id).await["metadata"], json!({ "k": "v", "readonly": "True" }));
    let body = json!({ "attachment": { "volume_uuid": id, "mode": "rw" } });
    let made = member.post("/attachments", body).await.expect(200)["attachment"].clone();
    assert_eq!(made["attach_mode"], "ro");
    // not while it is in use
    let text = act(&member, &id, "os-update_readonly_flag", json!({ "readonly": false })).await.fault(400);
    assert!(text.contains("reserved"), "{text}");
    member.delete(&format!("/attachments/{}", made["id"].as_str().unwrap())).await.expect(200);
    act(&member, &id, "os-update_readonly_flag", json!({ "readonly": false })).await.expect(202);
    assert_eq!(shown(&member, &id).await["metadata"]["readonly"], "False");
    let body = json!({ "attachment": { "volume_uuid": id, "mode": "rw" } });
    assert_eq!(member.post("/attachments", body).await.expect(200)["attachment"]["attach_mode"], "rw");
}

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

#[tokio::test]
async fn verbs_at_once_on_one_volume_leave_true_figures() {
    let site = Site::start().await;
    let member = site.member().await.at("3.66");
    let id = site.volume().await;
    let mut going = Vec::new();
    for n in 0..12_i64 {
        let (client, id) = (member.clone(), id.clone());
        going.push(tokio::spawn(async move {
            match n % 3 {
                0 => extend(&client, &id, 2 + n).await.status,
                1 => client.post("/snapshots", json!({ "snapshot": { "volume_id": id } })).await.status,
                _ => act(&client, &id, "os-set_bootable", json!({ "bootable": n % 2 == 0 })).await.status,
            }
        }));
    }
    for one in going {
        let status = one.await.unwrap().as_u16();
        assert!([200, 202, 400].contains(&status), "{status}");
    }
    until_status(&member, &id, "available").await;
    let list = member.get("/snapshots").await.expect(200);
    for s in list["snapshots"].as_array().unwrap() {
        until(&member, s["id"].as_str().unwrap(), "available").await;
    }
    quota_is_true(&site).await;
    member.delete(&format!("/volumes/{id}?cascade=true")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes").await), (0, 0));
    // a volume that was never placed has nothing to extend
    let unplaced = create(&member, json!({ "volume_type": impossible(&site).await })).await;
    until_status(&member, &unplaced, "error").await;
    site.operator()
        .await
        .post(&format!("/volumes/{unplaced}/action"), json!({ "os-reset_status": { "status": "available" } }))
        .await
        .expect(202);
    assert!(extend(&member, &unplaced, 2).await.fault(400).contains("not on any back end"));
    assert!(take_status(&member, &unplaced).await.fault(400).contains("not on any back end"));
}

async fn take_status(client: &Client, volume: &str) -> support::Answer {
    client.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await
}

async fn impossible(site: &Site) -> String {
    let body = json!({ "volume_type": { "name": "impossible", "extra_specs": { "color": "red" } } });
    site.operator().await.post("/types", body).await.expect(200);
    "impossible".into()
}

#[tokio::test]
async fn jobs_of_a_volumes_verbs_run_in_the_lane_of_its_back_end() {
    let site = Site::start().await;
    let (member, admin) = (site.member().await, site.admin(Persona::Admin).await);
    let id = site.volume().await;
    for verb in ["extend", "snapshot"] {
        site.array.hold(verb);
    }
    extend(&member, &id, 2).await.expect(202);
    let running = || async {
        let jobs = admin.get("/jobs?state=running").await.expect(200);
        jobs["jobs"].as_array().unwrap().iter().any(|j| j["kind"] == "volume.extend" && j["backend"] == "stowage@a")
    };
    site.until("the extend to run in its lane", running).await;
    site.array.release("extend");
    until_status(&member, &id, "available").await;
    let taken = take(&member, &id, json!({})).await;
    let running = || async {
        let jobs = admin.get("/jobs?state=running").await.expect(200);
        jobs["jobs"].as_array().unwrap().iter().any(|j| j["kind"] == "snapshot.create" && j["backend"] == "stowage@a")
    };
    site.until("the snapshot to run in its lane", running).await;
    site.array.release("snapshot");
    until(&member, &taken, "available").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_many_verbs_at_once_on_few_volumes_end_at_rest_with_true_figures() {
    if !support::db::is_wanted("postgres") {
        return;
    }
    let database = support::postgres::database().await;
    let url = database.url.clone();
    let site = Site::start_with(|c| {
        c.database.url = url;
        for limit in [&mut c.quota.volumes, &mut c.quota.snapshots, &mut c.quota.gigabytes] {
            *limit = -1;
        }
    })
    .await;
    let (member, operator) = (site.member().await.at("3.66"), site.operator().await);
    operator.post("/types", json!({ "volume_type": { "name": "gold", "extra_specs": { "vendor:tier": "gold" } } })).await.expect(200);
    let volumes = [site.volume().await, site.volume().await, site.volume().await];
    let mut going = Vec::new();
    for n in 0..90_usize {
        let (client, id) = (member.clone(), volumes[n % 3].clone());
        going.push(tokio::spawn(async move {
            let size = i64::try_from(n).unwrap() + 2;
            match (n / 3) % 6 {
                0 => extend(&client, &id, size).await,
                1 => take_status(&client, &id).await,
                2 => act(&client, &id, "os-retype", json!({ "new_type": if n % 2 == 0 { "gold" } else { "__DEFAULT__" } })).await,
                3 => client.post("/volumes", json!({ "volume": { "source_volid": id } })).await,
                4 => {
                    let list = client.get(&format!("/snapshots?volume_id={id}")).await.expect(200);
                    let Some(snapshot) = list["snapshots"][0]["id"].as_str() else { return 400 };
                    act(&client, &id, "revert", json!({ "snapshot_id": snapshot })).await
                }
                _ => {
                    let list = client.get(&format!("/snapshots?volume_id={id}")).await.expect(200);
                    let Some(snapshot) = list["snapshots"][0]["id"].as_str() else { return 400 };
                    client.delete(&format!("/snapshots/{snapshot}")).await
                }
            }
            .status
            .as_u16()
        }));
    }
    for one in going {
        let status = one.await.unwrap();
        assert!([200, 202, 400, 404, 409].contains(&status), "{status}");
    }
    let all = || async { member.get("/volumes/detail").await.expect(200)["volumes"].as_array().unwrap().clone() };
    site.until("every volume at rest", || async { all().await.iter().all(|v| v["status"] == "available") }).await;
    let admin = site.admin(Persona::Admin).await;
    for state in ["ready", "running"] {
        admin.until(&format!("/jobs?state={state}"), |a| a.body()["jobs"] == json!([])).await;
    }
    quota_is_true(&site).await;
    for volume in all().await {
        member.delete(&format!("/volumes/{}?cascade=true", volume["id"].as_str().unwrap())).await.expect(202);
    }
    site.until("every volume gone", || async { all().await.is_empty() }).await;
    quota_is_true(&site).await;
    assert!(site.array.volumes().is_empty() && site.array.snapshots().is_empty());
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes_gold").await), (0, 0));
}

#[tokio::test]
async fn past_its_maximum_age_every_verb_has_a_true_end_state_and_a_message() {
    let site = Site::start_with(|c| c.jobs.max_age = std::time::Duration::from_millis(2500)).await;
    let (member, operator) = (site.member().await.at("3.40"), site.operator().await);
    operator.post("/types", json!({ "volume_type": { "name": "gold", "extra_specs": { "vendor:tier": "gold" } } })).await.expect(200);
    let [extended, retyped, reverted, taken_of] = [site.volume().await, site.volume().await, site.volume().await, site.volume().await];
    let (latest, deleted) = (snapshot(&member, &reverted).await, snapshot(&member, &taken_of).await);
    let verbs = ["extend", "retype", "revert", "delete-snapshot"];
    for verb in verbs {
        site.array.hold(verb);
    }
    extend(&member, &extended, 5).await.expect(202);
    act(&member, &retyped, "os-retype", json!({ "new_type": "gold" })).await.expect(202);
    act(&member, &reverted, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    member.delete(&format!("/snapshots/{deleted}")).await.expect(202);
    assert_eq!(until_status(&member, &extended, "error_extending").await["size"], 1);
    assert_eq!(until_status(&member, &retyped, "available").await["volume_type"], "__DEFAULT__");
    // what the array was doing to it is not known
    until_status(&member, &reverted, "error").await;
    until(&member, &latest, "available").await;
    until(&member, &deleted, "error_deleting").await;
    for (resource, event) in [
        (&extended, "VOLUME_VOLUME_007_103"),
        (&retyped, "VOLUME_VOLUME_103_103"),
        (&reverted, "VOLUME_VOLUME_102_103"),
        (&deleted, "VOLUME_VOLUME_SNAPSHOT_010_103"),
    ] {
        assert_eq!(messages(&member, resource).await[0]["event_id"], event);
    }
    quota_is_true(&site).await;
    for verb in verbs {
        site.array.release(verb);
    }
    site.array.hold("snapshot");
    let failed = take(&member, &made_available(&member, &operator, &extended).await, json!({})).await;
    until(&member, &failed, "error").await;
    assert_eq!(messages(&member, &failed).await[0]["event_id"], "VOLUME_VOLUME_SNAPSHOT_009_103");
    site.array.release("snapshot");
    member.delete(&format!("/snapshots/{failed}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{failed}")).await;
    member.delete(&format!("/snapshots/{deleted}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{deleted}")).await;
    quota_is_true(&site).await;
}

/// An operator says that the volume is available.
async fn made_available(member: &Client, operator: &Client, volume: &str) -> String {
    act(operator, volume, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    until_status(member, volume, "available").await;
    volume.to_owned()
}
