//! Larger and smaller shares.

use serde_json::json;
use stowage::{clock, domain::share::ShareStatus};

use crate::site::{Site, action, create};

fn extend(to: i64) -> serde_json::Value {
    json!({ "extend": { "new_size": to } })
}

fn shrink(to: i64) -> serde_json::Value {
    json!({ "shrink": { "new_size": to } })
}

#[tokio::test]
async fn a_share_grows_and_shrinks_with_its_quota_and_its_room() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available_with(json!({ "size": 2 })).await;
    member.post(&action(&id), extend(5)).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 5);
    assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (5, 5));
    member.at("2.6").post(&action(&id), json!({ "os-shrink": { "new_size": 3 } })).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 3);
    assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (3, 3));
}

#[tokio::test]
async fn bad_sizes_and_states_are_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available_with(json!({ "size": 2 })).await;
    for bad in [extend(2), extend(1), extend(0), json!({ "extend": {} }), json!({ "extend": { "new_size": "big" } })] {
        assert_eq!(member.post(&action(&id), bad.clone()).await.status, 400, "{bad}");
    }
    for bad in [shrink(2), shrink(3), shrink(0), json!({ "shrink": {} }), json!({ "shrink": { "new_size": "small" } })] {
        assert_eq!(member.post(&action(&id), bad.clone()).await.status, 400, "{bad}");
    }
    site.tell(&id, "error").await;
    member.post(&action(&id), extend(3)).await.expect(400);
    member.post(&action(&id), shrink(1)).await.expect(400);
    site.stranger().await.post(&action(&id), extend(3)).await.expect(404);
    assert_eq!(site.used(&member, "gigabytes").await, 2);
}

#[tokio::test]
async fn an_extend_over_the_quota_is_forbidden() {
    let site = Site::configured(vec![crate::site::backend("m", json!({}))], |c| {
        c.quota.share.gigabytes = 5;
        c.quota.share.per_share_gigabytes = 4;
    })
    .await;
    let member = site.member().await;
    let id = site.available_with(json!({ "size": 3 })).await;
    site.available_with(json!({ "size": 2 })).await;
    member.post(&action(&id), extend(4)).await.expect(403);
    member.post(&action(&id), extend(5)).await.expect(413);
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "available");
    assert_eq!(site.used(&member, "gigabytes").await, 5);
}

#[tokio::test]
async fn a_share_does_not_outgrow_its_pool_but_by_force() {
    let site = Site::with(json!({ "pools": ["p1:10"] })).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available_with(json!({ "size": 2 })).await;
    member.post(&action(&id), extend(50)).await.expect(202);
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "available");
    assert_eq!(
        site.messages(&id).await,
        ["allocate host: No storage could be allocated for this share request, Capacity filter didn't succeed."]
    );
    assert_eq!(site.used(&member, "gigabytes").await, 2);
    let forced = json!({ "extend": { "new_size": 50, "force": true } });
    member.post(&action(&id), forced.clone()).await.expect(403);
    operator.post(&action(&id), json!({ "extend": { "new_size": 50, "force": "perhaps" } })).await.expect(400);
    operator.post(&action(&id), forced).await.expect(202);
    // this driver's pool has no more, either
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "extending_error").await;
    assert_eq!(site.used(&member, "gigabytes").await, 2);
}

#[tokio::test]
async fn a_driver_that_fails_to_extend_gives_everything_back() {
    let site = Site::faulty(&["shares.extend#1=refuse:exhausted"]).await;
    let member = site.member().await;
    let id = site.available().await;
    member.post(&action(&id), extend(5)).await.expect(202);
    let share = member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "extending_error").await.body()["share"].clone();
    assert_eq!(share["size"], 1);
    assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (1, 1));
    assert!(site.messages(&id).await.iter().any(|m| m.starts_with("extend: ")));
    site.tell(&id, "available").await;
    member.post(&action(&id), extend(5)).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 5);
}

#[tokio::test]
async fn an_extend_that_an_operator_hid_keeps_its_room_whatever_else_is_asked() {
    let site = Site::with(json!({ "pools": ["p1:10"], "faults": ["shares.extend#1=pending:10"] })).await;
    let member = site.member().await;
    let id = site.available().await;
    member.post(&action(&id), extend(3)).await.expect(202);
    site.tell(&id, "available").await;
    // one that would fit, and one that would not
    for size in [4, 500] {
        assert!(member.post(&action(&id), extend(size)).await.fault(400).contains("being resized"));
    }
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["size"] == 3).await;
    assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (3, 3));
}

#[tokio::test]
async fn what_is_in_use_is_not_shrunk_away() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available_with(json!({ "size": 5, "metadata": { "memory_used_gib": "3" } })).await;
    member.post(&action(&id), shrink(2)).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 5);
    let messages = site.messages(&id).await;
    assert!(messages.iter().any(|m| m.starts_with("shrink: Share Driver refused to shrink the share.")), "{messages:?}");
    assert_eq!(site.used(&member, "gigabytes").await, 5);
    member.post(&action(&id), shrink(3)).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 3);
}

#[tokio::test]
async fn a_shrink_that_fails_ends_in_error_and_one_that_cannot_be_in_available() {
    for (fault, status) in [("auth", "shrinking_error"), ("unsupported", "available")] {
        let site = Site::faulty(&[&format!("share-shrink.shrink=refuse:{fault}")]).await;
        let member = site.member().await;
        let id = site.available_with(json!({ "size": 2 })).await;
        member.post(&action(&id), shrink(1)).await.expect(202);
        let share = member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == status).await.body()["share"].clone();
        assert_eq!((share["size"].as_i64(), site.used(&member, "gigabytes").await), (Some(2), 2), "{fault}");
    }
}

#[tokio::test]
async fn a_type_bounds_its_shares() {
    let site = Site::start().await;
    let specs =
        json!({ "provisioning:min_share_size": "2", "provisioning:max_share_size": "4", "provisioning:max_share_extend_size": "6" });
    site.share_type("bounded", specs).await;
    let (member, operator) = (site.member().await, site.operator().await);
    for size in [1, 5] {
        crate::site::try_create(&member, json!({ "share_type": "bounded", "size": size })).await.expect(400);
    }
    let id = site.available_with(json!({ "share_type": "bounded", "size": 3 })).await;
    member.post(&action(&id), extend(5)).await.expect(400);
    member.post(&action(&id), shrink(1)).await.expect(400);
    operator.post(&action(&id), extend(7)).await.expect(400);
    operator.post(&action(&id), extend(6)).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 6);
}

/// No call says so while the create is under way; what two open claims of one share come to is shown all the same.
async fn is_available_too_early(site: &Site, id: &str) {
    let mut tx = site.app().store.begin().await.unwrap();
    assert!(tx.share_status(id, &[ShareStatus::Creating], ShareStatus::Available, clock::now()).await.unwrap());
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_share_that_is_available_too_early_keeps_its_room_when_it_is_extended() {
    let site = Site::faulty(&["shares.create=delay:1500"]).await;
    let member = site.member().await;
    let id = create(&member, json!({ "size": 2 })).await;
    support::wait::until("the share to be placed", || async { (site.allocated().await == 2).then_some(()) }).await;
    is_available_too_early(&site, &id).await;
    member.post(&action(&id), extend(5)).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 5);
    assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (5, 5));
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.until_gone(&format!("/shares/{id}")).await;
    assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (0, 0));
}

#[tokio::test]
async fn the_growth_of_a_share_that_was_still_being_made_is_given_back_when_it_fails() {
    for fault in ["shares.extend=fail-after:internal", "shares.extend=refuse:invalid"] {
        let site = Site::faulty(&["shares.create=delay:1500", fault]).await;
        let member = site.member().await;
        let id = create(&member, json!({ "size": 2 })).await;
        support::wait::until("the share to be placed", || async { (site.allocated().await == 2).then_some(()) }).await;
        is_available_too_early(&site, &id).await;
        // its claim is open while the create ends
        member.post(&action(&id), extend(5)).await.expect(202);
        member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "extending_error").await;
        assert_eq!((site.used(&member, "gigabytes").await, site.allocated().await), (2, 2), "{fault}");
    }
}
