//! The recycle bin.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::service::share::delete;

use crate::site::{Site, action, backend};

#[tokio::test]
async fn a_share_goes_into_the_bin_and_comes_out() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available().await;
    member.at("2.68").post(&action(&id), json!({ "soft_delete": null })).await.expect(404);
    member.post(&action(&id), json!({ "soft_delete": null })).await.expect(202);
    let share = member.get(&format!("/shares/{id}")).await.expect(200)["share"].clone();
    assert_eq!((&share["is_soft_deleted"], &share["status"]), (&json!(true), &json!("available")));
    assert!(share["scheduled_to_be_deleted_at"].is_string());
    assert_eq!(site.used(&member, "shares").await, 1, "it counts as long as it is there");
    member.post(&action(&id), json!({ "soft_delete": null })).await.expect(403);
    member.post(&action(&id), json!({ "restore": null })).await.expect(202);
    let share = member.get(&format!("/shares/{id}")).await.expect(200)["share"].clone();
    assert_eq!((&share["is_soft_deleted"], &share["scheduled_to_be_deleted_at"]), (&json!(false), &Value::Null));
    member.post(&action(&id), json!({ "restore": null })).await.expect(200);
}

#[tokio::test]
async fn in_the_bin_nothing_changes() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    member.post(&action(&id), json!({ "soft_delete": null })).await.expect(202);
    member.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(403);
    member.post(&action(&id), json!({ "shrink": { "new_size": 1 } })).await.expect(403);
    member.post(&action(&id), json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.1" } })).await.expect(403);
    member.put(&format!("/shares/{id}"), json!({ "share": { "display_name": "x" } })).await.expect(403);
    operator.post(&action(&id), json!({ "reset_status": { "status": "error" } })).await.expect(403);
    operator.post(&action(&id), json!({ "reset_task_state": { "task_state": null } })).await.expect(403);
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.until_gone(&format!("/shares/{id}")).await;
}

#[tokio::test]
async fn only_what_is_idle_goes_into_the_bin_and_only_the_owner_puts_it_there() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let id = site.available().await;
    for status in ["creating", "error_deleting", "migrating"] {
        site.tell(&id, status).await;
        member.post(&action(&id), json!({ "soft_delete": null })).await.expect(403);
    }
    stranger.post(&action(&id), json!({ "soft_delete": null })).await.expect(404);
    stranger.post(&action(&id), json!({ "restore": null })).await.expect(404);
}

#[tokio::test]
async fn when_its_time_is_over_it_is_deleted() {
    let site = Site::configured(vec![backend("m", json!({}))], |c| c.share.soft_deleted_share_retention = Duration::from_millis(1)).await;
    let member = site.member().await;
    let (gone, kept) = (site.available().await, site.available().await);
    member.post(&action(&gone), json!({ "soft_delete": null })).await.expect(202);
    support::wait::until("the share to go", || async {
        site.app().reconcilers.kick("empty-bin");
        (member.get(&format!("/shares/{gone}")).await.status == 404).then_some(())
    })
    .await;
    member.share_until(&kept, "available").await;
    assert_eq!(site.used(&member, "shares").await, 1);
}

#[tokio::test]
async fn what_was_restored_or_has_time_left_is_not_deleted_though_somebody_was_about_to() {
    let site = Site::start().await;
    let member = site.member().await;
    let (restored, waiting) = (site.available().await, site.available().await);
    for id in [&restored, &waiting] {
        member.post(&action(id), json!({ "soft_delete": null })).await.expect(202);
    }
    member.post(&action(&restored), json!({ "restore": null })).await.expect(202);
    for id in [&restored, &waiting, &crate::site::uuid()] {
        assert!(!delete::expire(site.app(), id).await.unwrap());
    }
    for id in [&restored, &waiting] {
        assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "available");
    }
}
