//! What operators say of shares.

use serde_json::json;

use support::Persona;

use crate::site::{LATEST, Site, action};

#[tokio::test]
async fn an_operator_says_what_a_share_is() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    for status in ["error", "creating", "deleting", "error_deleting", "migrating", "migrating_to", "server_migrating", "available"] {
        operator.post(&action(&id), json!({ "reset_status": { "status": status } })).await.expect(202);
        assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], status);
    }
    for bad in [json!({}), json!({ "status": "nonsense" }), json!({ "status": null }), json!({ "status": "extending" })] {
        operator.post(&action(&id), json!({ "reset_status": bad })).await.expect(400);
    }
    operator.post(&action("none"), json!({ "reset_status": { "status": "error" } })).await.expect(404);
    member.post(&action(&id), json!({ "reset_status": { "status": "error" } })).await.expect(403);
}

#[tokio::test]
async fn an_operator_says_what_a_shares_task_does() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    let body = |state: &str| json!({ "reset_task_state": { "task_state": state } });
    operator.post(&action(&id), body("migration_in_progress")).await.expect(202);
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["task_state"], "migration_in_progress");
    // busy
    member.delete(&format!("/shares/{id}")).await.expect(403);
    member.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(400);
    operator.post(&action(&id), body("nonsense")).await.expect(400);
    operator.post(&action(&id), json!({ "reset_task_state": {} })).await.expect(400);
    member.post(&action(&id), body("migration_error")).await.expect(403);
    operator.post(&action(&id), json!({ "reset_task_state": { "task_state": null } })).await.expect(202);
    member.delete(&format!("/shares/{id}")).await.expect(202);
}

/// `openstack share set` does so with every change it makes.
#[tokio::test]
async fn whoever_may_change_a_share_may_say_that_it_has_no_task_where_it_has_none() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    let none = json!({ "reset_task_state": { "task_state": null } });
    member.post(&action(&id), none.clone()).await.expect(202);
    for other in [Persona::Reader, Persona::Stranger] {
        site.share(other).await.at(LATEST).post(&action(&id), none.clone()).await.expect(403);
    }
    operator.post(&action(&id), json!({ "reset_task_state": { "task_state": "migration_in_progress" } })).await.expect(202);
    member.post(&action(&id), none).await.expect(403);
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["task_state"], "migration_in_progress");
}
