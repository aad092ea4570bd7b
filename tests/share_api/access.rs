//! Who may mount a share.

use serde_json::{Value, json};
use stowage::{
    clock,
    domain::share_access::{AccessLevel, AccessType},
};
use support::Client;

use crate::site::{Site, action, allow, keys, text};

fn rule(kind: &str, to: &str) -> Value {
    json!({ "allow_access": { "access_type": kind, "access_to": to } })
}

/// Waits until a rule has this state.
async fn until(client: &Client, id: &str, state: &str) -> Value {
    client.until(&format!("/share-access-rules/{id}"), |a| a.body()["access"]["state"] == state).await.body()["access"].clone()
}

async fn rules_status(client: &Client, share: &str, status: &str) {
    client.until(&format!("/shares/{share}"), |a| a.body()["share"]["access_rules_status"] == status).await;
}

#[tokio::test]
async fn a_rule_waits_and_is_then_active() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let body =
        json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.0/24", "access_level": "ro", "metadata": { "k": "v" } } });
    let made = member.post(&action(&share), body).await.expect(200)["access"].clone();
    assert_eq!((&made["state"], &made["share_id"], &made["access_level"]), (&json!("queued_to_apply"), &json!(share), &json!("ro")));
    assert_eq!((&made["metadata"], &made["access_key"]), (&json!({ "k": "v" }), &Value::Null));
    let active = until(&member, made["id"].as_str().unwrap(), "active").await;
    assert_eq!(active["access_to"], "10.0.0.0/24");
    rules_status(&member, &share, "active").await;
}

#[tokio::test]
async fn a_level_left_out_is_rw_and_a_denied_rule_is_gone() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let id = allow(&member, &share, "10.0.0.1").await;
    assert_eq!(until(&member, &id, "active").await["access_level"], "rw");
    member.post(&action(&share), json!({ "deny_access": { "access_id": id } })).await.expect(202);
    member.until_gone(&format!("/share-access-rules/{id}")).await;
    rules_status(&member, &share, "active").await;
    member.post(&action(&share), json!({ "deny_access": { "access_id": id } })).await.expect(404);
}

#[tokio::test]
async fn bad_rules_are_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    for bad in [
        json!({ "access_type": "ip", "access_to": "1.2.3.256" }),
        json!({ "access_type": "ip", "access_to": "1.2.3.4/33" }),
        json!({ "access_type": "user", "access_to": "abc" }),
        json!({ "access_type": "cert", "access_to": "" }),
        json!({ "access_type": "cephx", "access_to": "jane.doe" }),
        json!({ "access_type": "wrong", "access_to": "1.2.3.4" }),
        json!({ "access_type": "ip" }),
        json!({ "access_to": "1.2.3.4" }),
        json!({ "access_type": "ip", "access_to": "1.2.3.4", "access_level": "su" }),
        json!({ "access_type": "ip", "access_to": "1.2.3.4", "metadata": { "": "v" } }),
    ] {
        let answer = member.post(&action(&share), json!({ "allow_access": bad })).await;
        assert_eq!(answer.status, 400, "{bad}: {answer:?}");
    }
    let listed = member.get(&format!("/share-access-rules?share_id={share}")).await.expect(200);
    assert_eq!(listed, json!({ "access_list": [] }));
}

#[tokio::test]
async fn one_target_has_one_rule() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    allow(&member, &share, "10.0.0.1").await;
    for same in ["10.0.0.1", "10.0.0.1/32"] {
        member.post(&action(&share), rule("ip", same)).await.expect(400);
    }
    member.post(&action(&share), rule("ip", "10.0.0.0/24")).await.expect(200);
}

#[tokio::test]
async fn kinds_come_with_their_version() {
    let site = Site::with(json!({ "ip_versions": ["4", "6"] })).await;
    let member = site.member().await;
    let share = site.available().await;
    member.at("2.12").post(&action(&share), rule("cephx", "alice")).await.expect(400);
    member.at("2.37").post(&action(&share), rule("ip", "fd00::1")).await.expect(400);
    member.at("2.38").post(&action(&share), rule("ip", "fd00::1")).await.expect(200);
}

#[tokio::test]
async fn fields_come_with_their_version() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let id = allow(&member, &share, "10.0.0.1").await;
    until(&member, &id, "active").await;
    let list = |version: &'static str| {
        let (client, path) = (member.at(version), action(&share));
        let key = if version == "2.0" { "os-access_list" } else { "access_list" };
        async move { client.post(&path, json!({ key: null })).await.expect(200)["access_list"][0].clone() }
    };
    assert_eq!(keys(&list("2.0").await), ["access_level", "access_to", "access_type", "id", "state"]);
    assert_eq!(list("2.7").await["state"], "active");
    assert_eq!(keys(&list("2.21").await), ["access_key", "access_level", "access_to", "access_type", "id", "state"]);
    let newer = list("2.44").await;
    assert_eq!(keys(&newer), ["access_key", "access_level", "access_to", "access_type", "created_at", "id", "state", "updated_at"]);
    member.at("2.45").post(&action(&share), json!({ "access_list": null })).await.expect(404);
    let shown = member.at("2.45").get(&format!("/share-access-rules/{id}")).await.expect(200)["access"].clone();
    assert!(shown["metadata"] == json!({}) && shown["share_id"] == json!(share));
    member.at("2.44").get(&format!("/share-access-rules/{id}")).await.expect(404);
}

#[tokio::test]
async fn a_list_of_rules_needs_a_share_and_can_be_filtered() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let body = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.1", "access_level": "ro", "metadata": { "k": "v" } } });
    member.post(&action(&share), body).await.expect(200);
    allow(&member, &share, "10.0.0.2").await;
    let found = |query: &str| {
        let (client, path) = (member.clone(), format!("/share-access-rules?share_id={share}&{query}"));
        async move {
            let body = client.get(&path).await.expect(200);
            body["access_list"].as_array().unwrap().iter().map(|r| text(&r["access_to"])).collect::<Vec<_>>()
        }
    };
    assert_eq!(found("").await, ["10.0.0.1", "10.0.0.2"]);
    assert_eq!(found("metadata={'k': 'v'}").await, ["10.0.0.1"]);
    assert_eq!(found("access_level=rw").await, ["10.0.0.2"]);
    assert_eq!(found("access_type=ip&access_to=10.0.0.2").await, ["10.0.0.2"]);
    for bad in ["access_type=wrong", "access_level=su", "access_to=10.0.0.2", "access_type=ip&access_to=nonsense"] {
        member.get(&format!("/share-access-rules?share_id={share}&{bad}")).await.expect(400);
    }
    member.get("/share-access-rules").await.expect(400);
    member.get("/share-access-rules?share_id=none").await.expect(400);
    site.stranger().await.get(&format!("/share-access-rules?share_id={share}")).await.expect(400);
}

#[tokio::test]
async fn a_rule_changes_its_level_from_2_88() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let id = allow(&member, &share, "10.0.0.1").await;
    until(&member, &id, "active").await;
    let path = format!("/share-access-rules/{id}");
    let body = json!({ "update_access": { "access_level": "ro" } });
    member.at("2.87").put(&path, body.clone()).await.expect(404);
    let changed = member.put(&path, body.clone()).await.expect(200)["access"].clone();
    assert_eq!((&changed["state"], &changed["access_level"]), (&json!("queued_to_update"), &json!("ro")));
    until(&member, &id, "active").await;
    assert_eq!(member.put(&path, body).await.expect(200)["access"]["state"], "active", "it has that level");
    member.put(&path, json!({ "update_access": { "access_level": "su" } })).await.expect(400);
    member.put(&path, json!({ "update_access": {} })).await.expect(400);
    member.put("/share-access-rules/none", json!({ "update_access": { "access_level": "ro" } })).await.expect(404);
    site.stranger().await.put(&path, json!({ "update_access": { "access_level": "ro" } })).await.expect(404);
}

#[tokio::test]
async fn rules_have_pairs_from_2_45() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let id = allow(&member, &share, "10.0.0.1").await;
    let path = format!("/share-access-rules/{id}/metadata");
    assert_eq!(member.put(&path, json!({ "metadata": { "a": "1" } })).await.expect(200), json!({ "metadata": { "a": "1" } }));
    member.put(&path, json!({ "metadata": { "a": "" } })).await.expect(400);
    member.delete(&format!("{path}/a")).await.expect(200);
    member.delete(&format!("{path}/a")).await.expect(404);
    site.stranger().await.put(&path, json!({ "metadata": { "a": "1" } })).await.expect(404);
}

#[tokio::test]
async fn rules_wait_while_something_else_is_under_way() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let id = allow(&member, &share, "10.0.0.1").await;
    until(&member, &id, "active").await;
    for status in ["creating", "deleting", "migrating"] {
        site.tell(&share, status).await;
        member.post(&action(&share), rule("ip", "10.0.0.2")).await.expect(400);
        member.post(&action(&share), json!({ "deny_access": { "access_id": id } })).await.expect(400);
    }
    site.tell(&share, "error").await;
    member.at("2.73").post(&action(&share), rule("ip", "10.0.0.2")).await.expect(400);
    member.at("2.74").post(&action(&share), rule("ip", "10.0.0.2")).await.expect(200);
}

#[tokio::test]
async fn a_rule_of_another_share_is_not_found() {
    let site = Site::start().await;
    let member = site.member().await;
    let (one, two) = (site.available().await, site.available().await);
    let id = allow(&member, &one, "10.0.0.1").await;
    member.post(&action(&two), json!({ "deny_access": { "access_id": id } })).await.expect(404);
    site.stranger().await.get(&format!("/share-access-rules/{id}")).await.expect(404);
    site.stranger().await.post(&action(&one), rule("ip", "10.0.0.9")).await.expect(404);
}

#[tokio::test]
async fn what_the_driver_refuses_is_in_error_and_the_others_hold() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    let good = allow(&member, &share, "10.0.0.1").await;
    let bad = text(&member.post(&action(&share), rule("user", "alice")).await.expect(200)["access"]["id"]);
    until(&member, &good, "active").await;
    until(&member, &bad, "error").await;
    rules_status(&member, &share, "error").await;
    assert!(site.messages(&share).await.iter().any(|m| m.starts_with("update access rules: ") && m.contains("rules of this kind")));
    // before 2.28 no other rule is taken until it is gone, and every rule shows the error
    member.at("2.27").post(&action(&share), rule("ip", "10.0.0.2")).await.expect(400);
    let listed = member.at("2.27").post(&action(&share), json!({ "access_list": null })).await.expect(200);
    assert_eq!(listed["access_list"][0]["state"], "error");
    let later = allow(&member, &share, "10.0.0.2").await;
    until(&member, &later, "active").await;
    member.post(&action(&share), json!({ "deny_access": { "access_id": bad } })).await.expect(202);
    member.until_gone(&format!("/share-access-rules/{bad}")).await;
    rules_status(&member, &share, "active").await;
}

#[tokio::test]
async fn a_driver_that_fails_puts_what_was_under_way_in_error() {
    let site = Site::faulty(&["access.apply#2=refuse:unsupported"]).await;
    let member = site.member().await;
    let share = site.available().await;
    let first = allow(&member, &share, "10.0.0.1").await;
    until(&member, &first, "active").await;
    let second = allow(&member, &share, "10.0.0.2").await;
    until(&member, &second, "error").await;
    assert_eq!(until(&member, &first, "active").await["state"], "active");
    rules_status(&member, &share, "error").await;
    member.post(&action(&share), json!({ "deny_access": { "access_id": second } })).await.expect(202);
    member.until_gone(&format!("/share-access-rules/{second}")).await;
    rules_status(&member, &share, "active").await;
}

#[tokio::test]
async fn a_lost_answer_and_a_lie_are_asked_for_again() {
    let site = Site::faulty(&["access.apply#1=lose-answer", "access.apply#2=wrong-answer"]).await;
    let member = site.member().await;
    let share = site.available().await;
    let id = allow(&member, &share, "10.0.0.1").await;
    until(&member, &id, "active").await;
}

#[tokio::test]
async fn many_rules_at_once_all_hold() {
    let site = Site::faulty(&["access.apply=delay:50"]).await;
    let member = site.member().await;
    let share = site.available().await;
    let ids = futures::future::join_all((1..=20).map(|n| {
        let (member, share) = (member.clone(), share.clone());
        async move { allow(&member, &share, &format!("10.0.0.{n}")).await }
    }))
    .await;
    for id in &ids {
        until(&member, id, "active").await;
    }
    rules_status(&member, &share, "active").await;
}

#[tokio::test]
async fn a_ceph_rule_gets_its_key_from_the_driver() {
    let site = Site::configured(vec![crate::site::backend("m", json!({ "share_protocols": ["cephfs"] }))], |c| {
        c.share.enabled_share_protocols = vec!["CEPHFS".into()];
    })
    .await;
    let member = site.member().await;
    let share = site.available_with(json!({ "share_proto": "CephFS" })).await;
    let id = text(&member.post(&action(&share), rule("cephx", "alice")).await.expect(200)["access"]["id"]);
    assert_eq!(until(&member, &id, "active").await["access_key"], "key-of-alice");
}

#[tokio::test]
async fn a_rule_that_waits_when_its_share_is_deleted_holds_when_the_back_end_keeps_the_share() {
    let site = Site::faulty(&["access.apply#1=delay:1500", "shares.delete=refuse:busy"]).await;
    let member = site.member().await;
    let share = site.available().await;
    // the first is being applied, the second waits for it, and so does the delete
    let rules = [allow(&member, &share, "10.0.0.1").await, allow(&member, &share, "10.0.0.2").await];
    member.delete(&format!("/shares/{share}")).await.expect(202);
    member.until(&format!("/shares/{share}"), |a| a.body()["share"]["status"] == "available").await;
    for rule in &rules {
        until(&member, rule, "active").await;
    }
    rules_status(&member, &share, "active").await;
}

#[tokio::test]
async fn the_rules_of_a_share_whose_delete_failed_change_as_ever() {
    let site = Site::faulty(&["shares.delete=refuse:internal"]).await;
    let member = site.member().await;
    let share = site.available().await;
    member.delete(&format!("/shares/{share}")).await.expect(202);
    member.until(&format!("/shares/{share}"), |a| a.body()["share"]["status"] == "error_deleting").await;
    let rule = allow(&member, &share, "10.0.0.1").await;
    until(&member, &rule, "active").await;
    member.post(&action(&share), json!({ "deny_access": { "access_id": rule } })).await.expect(202);
    member.until_gone(&format!("/share-access-rules/{rule}")).await;
}

#[tokio::test]
async fn whom_the_back_end_does_not_serve_is_refused_at_once() {
    let (four, both) = (Site::start().await, Site::with(json!({ "ip_versions": ["4", "6"] })).await);
    for to in ["2001:db8::1", "2001:db8::/64"] {
        let (member, share) = (four.member().await, four.available().await);
        let refused = member.post(&action(&share), rule("ip", to)).await.fault(400);
        assert!(refused.contains("IPv6"), "{refused}");
        let listed = member.get(&format!("/share-access-rules?share_id={share}")).await.expect(200);
        assert_eq!(listed["access_list"], json!([]));
        let (member, share) = (both.member().await, both.available().await);
        let id = allow(&member, &share, to).await;
        until(&member, &id, "active").await;
    }
}

#[tokio::test]
async fn a_share_has_no_more_rules_than_a_driver_is_told_in_one_call() {
    let site = Site::start().await;
    let (member, share) = (site.member().await, site.available().await);
    let mut tx = site.app().store.begin().await.unwrap();
    for n in 0..1024 {
        let to = format!("10.0.{}.{}", n / 256, n % 256);
        tx.share_rule_insert(&format!("rule-{n}"), &share, AccessType::Ip, &to, AccessLevel::ReadWrite, clock::now()).await.unwrap();
    }
    tx.commit().await.unwrap();
    let refused = member.post(&action(&share), rule("ip", "10.9.0.1")).await.fault(413);
    assert!(refused.contains("exceed"), "{refused}");
}
