//! Making volumes larger.

use serde_json::json;
use stowage::driver::ErrorKind;
use support::Persona;

use super::{act, extend, messages, pool_of, quota_is_true, shown, until_status};
use crate::array::Fault;
use crate::site::{Site, attach, detach, uuid};

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
