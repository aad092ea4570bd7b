//! Locks on shares and access rules.

use serde_json::{Value, json};
use support::{Client, Persona};

use crate::site::{Site, action, keys, text};

const LOCKS: &str = "/resource-locks";

async fn lock(client: &Client, members: Value) -> Value {
    client.post(LOCKS, json!({ "resource_lock": members })).await.expect(200)["resource_lock"].clone()
}

async fn on_share(client: &Client, share: &str) -> String {
    text(&lock(client, json!({ "resource_id": share, "resource_type": "share", "resource_action": "delete" })).await["id"])
}

/// A rule with the locks that `members` say; its id.
async fn rule(client: &Client, share: &str, members: Value) -> String {
    let mut all = json!({ "access_type": "ip", "access_to": "203.0.113.7" });
    all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    text(&client.post(&action(share), json!({ "allow_access": all })).await.expect(200)["access"]["id"])
}

async fn shown_to(client: &Client, share: &str) -> Value {
    client.get(&format!("/share-access-rules?share_id={share}")).await.expect(200)["access_list"][0].clone()
}

#[tokio::test]
async fn a_locked_share_is_deleted_by_nobody_until_the_last_lock_is_gone() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    let (first, second) = (on_share(&member, &id).await, on_share(&operator, &id).await);
    let path = format!("/shares/{id}");
    for client in [&member, &operator] {
        assert!(client.delete(&path).await.fault(403).contains("prevents delete"), "{first}");
        client.post(&action(&id), json!({ "soft_delete": null })).await.expect(403);
    }
    operator.post(&action(&id), json!({ "force_delete": null })).await.expect(403);
    member.delete(&format!("{LOCKS}/{first}")).await.expect(204);
    member.delete(&path).await.expect(403);
    operator.delete(&format!("{LOCKS}/{second}")).await.expect(204);
    member.delete(&path).await.expect(202);
    member.until_gone(&path).await;
}

#[tokio::test]
async fn a_lock_says_who_placed_it_and_as_what() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    let made = lock(&member, json!({ "resource_id": id, "lock_reason": "mine" })).await;
    assert_eq!(
        keys(&made),
        [
            "created_at",
            "id",
            "links",
            "lock_context",
            "lock_reason",
            "project_id",
            "resource_action",
            "resource_id",
            "resource_type",
            "updated_at",
            "user_id"
        ]
    );
    assert_eq!(
        (&made["lock_context"], &made["user_id"], &made["resource_type"], &made["resource_action"], &made["lock_reason"]),
        (&json!("user"), &json!(member.user_id), &json!("share"), &json!("delete"), &json!("mine"))
    );
    assert_eq!(member.get(&format!("{LOCKS}/{}", text(&made["id"]))).await.expect(200)["resource_lock"], made);
    assert_eq!(lock(&operator, json!({ "resource_id": id })).await["lock_context"], "admin");
    site.stranger().await.get(&format!("{LOCKS}/{}", text(&made["id"]))).await.expect(404);
}

#[tokio::test]
async fn what_cannot_be_locked_is_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available().await;
    for (members, status) in [
        (json!({ "resource_type": "share" }), 400),
        (json!({ "resource_id": "nothing" }), 400),
        (json!({ "resource_id": id, "resource_type": "network" }), 400),
        (json!({ "resource_id": id, "resource_action": "burn" }), 400),
        (json!({ "resource_id": id, "resource_action": "show" }), 400),
        (json!({ "resource_id": id, "lock_reason": "x".repeat(1024) }), 400),
    ] {
        assert_eq!(member.post(LOCKS, json!({ "resource_lock": members })).await.status, status, "{members}");
    }
    // another project's share is not there
    let answer = site.stranger().await.post(LOCKS, json!({ "resource_lock": { "resource_id": id } })).await;
    answer.expect(400);
    member.at("2.80").post(LOCKS, json!({ "resource_lock": { "resource_id": id } })).await.expect(404);
    site.tell(&id, "deleting").await;
    member.post(LOCKS, json!({ "resource_lock": { "resource_id": id } })).await.expect(409);
}

#[tokio::test]
async fn a_lock_is_changed_and_taken_away_by_whoever_placed_it_or_ranks_above() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    // of the same project
    let colleague = site.share(Persona::SecondMember).await.at("2.99");
    let id = site.available().await;
    let path = format!("{LOCKS}/{}", on_share(&member, &id).await);
    let body = |reason: &str| json!({ "resource_lock": { "lock_reason": reason } });
    colleague.put(&path, body("theirs")).await.expect(403);
    colleague.delete(&path).await.expect(403);
    let changed = member.put(&path, body("new")).await.expect(200)["resource_lock"].clone();
    assert_eq!(changed["lock_reason"], "new");
    assert!(changed["updated_at"].is_string());
    member.put(&path, body(&"x".repeat(1024))).await.expect(400);
    member.put(&path, json!({ "resource_lock": { "resource_action": "burn" } })).await.expect(400);
    member.put(&path, json!({ "resource_lock": { "resource_id": "x" } })).await.expect(400);
    operator.delete(&path).await.expect(204);
    operator.delete(&path).await.expect(404);
}

#[tokio::test]
async fn locks_are_listed_filtered_sorted_and_counted() {
    let site = Site::start().await;
    let member = site.member().await;
    let (one, two) = (site.available().await, site.available().await);
    let first = text(&lock(&member, json!({ "resource_id": one, "lock_reason": "the first" })).await["id"]);
    let second = lock(&member, json!({ "resource_id": two, "lock_reason": "the second" })).await;
    let ids = |query: &str| {
        let path = format!("{LOCKS}?sort_key=created_at&sort_dir=asc&{query}");
        let member = &member;
        async move {
            let listed = member.get(&path).await.expect(200)["resource_locks"].clone();
            listed.as_array().unwrap().iter().map(|l| text(&l["id"])).collect::<Vec<_>>()
        }
    };
    let all = [first.clone(), text(&second["id"])];
    assert_eq!(ids("").await, all);
    assert_eq!(ids("limit=1").await, all[..1]);
    assert_eq!(ids(&format!("marker={first}")).await, all[1..]);
    assert_eq!(ids(&format!("resource_id={two}")).await, all[1..]);
    assert_eq!(ids("resource_type=share&resource_action=delete&lock_context=user").await, all);
    assert_eq!(ids("lock_reason~=first").await, all[..1]);
    assert_eq!(ids("lock_context=admin").await, [""; 0]);
    assert_eq!(ids(&format!("created_since={}", text(&second["created_at"]))).await, all[1..]);
    assert_eq!(ids("created_before=2020-01-01%2000:00:00").await, [""; 0]);
    member.get(&format!("{LOCKS}?created_since=yesterday")).await.expect(400);
    assert_eq!(member.get(&format!("{LOCKS}?with_count=true&limit=1")).await.expect(200)["count"], 2);
    assert_eq!(site.stranger().await.get(&format!("{LOCKS}?all_projects=1")).await.expect(200)["resource_locks"], json!([]));
    let everywhere = site.operator().await.get(&format!("{LOCKS}?all_projects=1")).await.expect(200);
    assert_eq!(everywhere["resource_locks"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_rule_that_is_locked_goes_only_with_its_locks() {
    let site = Site::start().await;
    let (member, colleague) = (site.member().await, site.share(Persona::SecondMember).await.at("2.99"));
    let share = site.available().await;
    let id = rule(&member, &share, json!({ "lock_deletion": true, "lock_reason": "keep" })).await;
    let deny = |unrestrict: bool| json!({ "deny_access": { "access_id": id, "unrestrict": unrestrict } });
    member.post(&action(&share), deny(false)).await.expect(403);
    member.at("2.81").post(&action(&share), json!({ "deny_access": { "access_id": id } })).await.expect(403);
    colleague.post(&action(&share), deny(true)).await.expect(403);
    let listed = member.get(&format!("{LOCKS}?resource_id={id}")).await.expect(200)["resource_locks"].clone();
    assert_eq!((&listed[0]["resource_type"], &listed[0]["lock_reason"]), (&json!("access_rule"), &json!("keep")));
    member.post(&action(&share), deny(true)).await.expect(202);
    assert_eq!(member.get(LOCKS).await.expect(200)["resource_locks"], json!([]));
}

#[tokio::test]
async fn whom_a_hidden_rule_lets_in_only_its_owner_and_administrators_see() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let colleague = site.share(Persona::SecondMember).await.at("2.99");
    let share = site.available().await;
    let id = rule(&member, &share, json!({ "lock_visibility": true })).await;
    for client in [&member, &operator] {
        assert_eq!(shown_to(client, &share).await["access_to"], "203.0.113.7");
    }
    for version in ["2.45", "2.99"] {
        let shown = shown_to(&colleague.at(version), &share).await;
        assert_eq!((&shown["access_to"], &shown["access_key"]), (&json!("******"), &json!("******")));
    }
    assert_eq!(colleague.get(&format!("/share-access-rules/{id}")).await.expect(200)["access"]["access_to"], "******");
    // nor does a filter tell
    let guess = format!("/share-access-rules?share_id={share}&access_type=ip&access_to=203.0.113.7");
    assert_eq!(colleague.get(&guess).await.expect(200)["access_list"], json!([]));
    // one lock of that kind is enough
    let again = json!({ "resource_lock": { "resource_id": id, "resource_type": "access_rule", "resource_action": "show" } });
    member.post(LOCKS, again.clone()).await.expect(409);
    colleague.post(LOCKS, again).await.expect(409);
}

#[tokio::test]
async fn locks_of_rules_go_with_their_share() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    rule(&member, &share, json!({ "lock_visibility": true, "lock_deletion": true })).await;
    assert_eq!(member.get(LOCKS).await.expect(200)["resource_locks"].as_array().unwrap().len(), 2);
    member.share_until(&share, "available").await;
    member.delete(&format!("/shares/{share}")).await.expect(202);
    member.until_gone(&format!("/shares/{share}")).await;
    assert_eq!(member.get(LOCKS).await.expect(200)["resource_locks"], json!([]));
}
