//! Snapshots that can be mounted: by whom, and where.

use serde_json::{Value, json};
use support::Client;

use crate::site::{Site, keys, snapshot, snapshot_action, text, uuid};

/// A snapshot of a share that lets its snapshots be mounted; its id.
async fn mountable(site: &Site) -> String {
    site.share_type("mountable", json!({ "snapshot_support": "True", "mount_snapshot_support": "True" })).await;
    let share = site.available_with(json!({ "share_type": "mountable" })).await;
    snapshot(&site.member().await, &share).await
}

fn rule(to: &str) -> Value {
    json!({ "allow_access": { "access_type": "ip", "access_to": to } })
}

async fn rules(client: &Client, id: &str) -> Vec<Value> {
    client.get(&format!("/snapshots/{id}/access-list")).await.expect(200)["snapshot_access_list"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_rule_waits_is_then_active_and_goes() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = mountable(&site).await;
    let made = member.post(&snapshot_action(&id), rule("10.0.0.1")).await.expect(202)["snapshot_access"].clone();
    assert_eq!(keys(&made), ["access_to", "access_type", "id", "state"]);
    assert_eq!(made["state"], "queued_to_apply");
    let list = format!("/snapshots/{id}/access-list");
    member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "active").await;
    member.post(&snapshot_action(&id), rule("10.0.0.1/32")).await.expect(400);
    member.post(&snapshot_action(&id), json!({ "deny_access": { "access_id": made["id"] } })).await.expect(202);
    member.until(&list, |a| a.body()["snapshot_access_list"] == json!([])).await;
    member.post(&snapshot_action(&id), json!({ "deny_access": { "access_id": made["id"] } })).await.expect(404);
}

#[tokio::test]
async fn bad_rules_states_and_strangers_are_refused() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = mountable(&site).await;
    for bad in [
        json!({ "allow_access": { "access_type": "ip", "access_to": "1.2.3.256" } }),
        json!({ "allow_access": { "access_type": "wrong", "access_to": "1.2.3.4" } }),
        json!({ "allow_access": {} }),
        json!({ "deny_access": {} }),
    ] {
        assert_eq!(member.post(&snapshot_action(&id), bad.clone()).await.status, 400, "{bad}");
    }
    member.post(&snapshot_action(&id), json!({ "deny_access": { "access_id": uuid() } })).await.expect(404);
    member.at("2.31").post(&snapshot_action(&id), rule("10.0.0.1")).await.expect(404);
    site.stranger().await.post(&snapshot_action(&id), rule("10.0.0.1")).await.expect(404);
    operator.post(&snapshot_action(&id), json!({ "reset_status": { "status": "error" } })).await.expect(202);
    member.post(&snapshot_action(&id), rule("10.0.0.1")).await.expect(400);
    assert!(rules(&member, &id).await.is_empty());
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_mounted_has_neither_rules_nor_locations() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = snapshot(&member, &site.available().await).await;
    member.post(&snapshot_action(&id), rule("10.0.0.1")).await.expect(400);
    member.get(&format!("/snapshots/{id}/access-list")).await.expect(400);
    member.get(&format!("/snapshots/{id}/export-locations")).await.expect(404);
}

#[tokio::test]
async fn a_rule_that_the_driver_cannot_apply_is_in_error_and_can_be_denied() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = mountable(&site).await;
    // NFS shares of this driver know addresses alone
    let body = json!({ "allow_access": { "access_type": "user", "access_to": "alice" } });
    let made = member.post(&snapshot_action(&id), body).await.expect(202)["snapshot_access"].clone();
    let list = format!("/snapshots/{id}/access-list");
    member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "error").await;
    assert!(site.messages(&id).await.iter().any(|m| m.starts_with("update access rules: ")));
    member.post(&snapshot_action(&id), json!({ "deny_access": { "access_id": made["id"] } })).await.expect(202);
    member.until(&list, |a| a.body()["snapshot_access_list"] == json!([])).await;
}

#[tokio::test]
async fn a_snapshot_goes_with_its_rules() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = mountable(&site).await;
    member.post(&snapshot_action(&id), rule("10.0.0.1")).await.expect(202);
    let list = format!("/snapshots/{id}/access-list");
    member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "active").await;
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
}

#[tokio::test]
async fn a_snapshot_is_mounted_at_its_locations() {
    let site = Site::with(json!({ "export_addresses": ["192.0.2.10"], "admin_export_address": "198.51.100.1" })).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = mountable(&site).await;
    let path = format!("/snapshots/{id}/export-locations");
    let seen = member.get(&path).await.expect(200)["share_snapshot_export_locations"].clone();
    assert_eq!(seen.as_array().unwrap().len(), 1);
    assert_eq!(keys(&seen[0]), ["id", "links", "path"]);
    assert!(seen[0]["path"].as_str().unwrap().starts_with("192.0.2.10:/snapshots/"));
    let all = operator.get(&path).await.expect(200)["share_snapshot_export_locations"].clone();
    assert_eq!(keys(&all[0]), ["id", "is_admin_only", "links", "path", "share_snapshot_instance_id"]);
    let hidden = all.as_array().unwrap().iter().find(|l| l["is_admin_only"] == true).unwrap();
    member.get(&format!("{path}/{}", text(&hidden["id"]))).await.expect(403);
    let shown = member.get(&format!("{path}/{}", text(&seen[0]["id"]))).await.expect(200);
    assert_eq!(keys(&shown["share_snapshot_export_location"]), ["created_at", "id", "links", "path", "updated_at"]);
    let instance = format!("/snapshot-instances/{}/export-locations", text(&all[0]["share_snapshot_instance_id"]));
    assert_eq!(operator.get(&instance).await.expect(200)["share_snapshot_export_locations"], all);
    operator.get(&format!("{instance}/{}", text(&hidden["id"]))).await.expect(200);
    member.get(&instance).await.expect(403);
    operator.get(&format!("{instance}/none")).await.expect(404);
    site.stranger().await.get(&path).await.expect(404);
}

#[tokio::test]
async fn a_rule_that_waits_when_its_snapshot_is_deleted_holds_when_the_back_end_keeps_the_snapshot() {
    let site = Site::faulty(&["snapshot-access.apply#1=delay:1500", "share-snapshots.delete=refuse:busy"]).await;
    let member = site.member().await;
    let id = mountable(&site).await;
    // the first is being applied, the second waits for it, and so does the delete
    for to in ["10.0.0.1", "10.0.0.2"] {
        member.post(&snapshot_action(&id), rule(to)).await.expect(202);
    }
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == "available").await;
    let active = |rules: &[Value]| rules.len() == 2 && rules.iter().all(|r| r["state"] == "active");
    member.until(&format!("/snapshots/{id}/access-list"), |a| active(a.body()["snapshot_access_list"].as_array().unwrap())).await;
}
