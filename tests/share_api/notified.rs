//! Events of shares, posted to a receiver.

use serde_json::json;
use support::receiver::Receiver;

use crate::{
    ensure::{HOST, patient},
    site::{Site, action, allow, backend, snapshot, snapshot_action, text, try_snapshot},
};

async fn start(receiver: &Receiver) -> Site {
    faulty(receiver, &[]).await
}

async fn faulty(receiver: &Receiver, faults: &[&str]) -> Site {
    let webhook = receiver.config();
    Site::configured(vec![backend("m", json!({ "faults": faults }))], |c| c.notify.webhook = webhook).await
}

#[tokio::test]
async fn a_shares_life_reaches_the_receiver_in_its_order() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let member = site.member().await;
    let share = site.available().await;
    member.post(&action(&share), json!({ "extend": { "new_size": 2 } })).await.expect(202);
    member.share_until(&share, "available").await;
    member.delete(&format!("/shares/{share}")).await.expect(202);
    let told = receiver.until_taken(&share, "share.delete.end").await;
    let expected =
        ["share.create.start", "share.create.end", "share.extend.start", "share.extend.end", "share.delete.start", "share.delete.end"];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn b7_ensuring_is_told_of_the_back_end_with_counts() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    site.available().await;
    patient(&site.operator().await).await.expect(202);
    let told = receiver.until_taken(HOST, "share.ensure.end").await;
    assert_eq!(told[..2], ["share.ensure.start", "share.ensure.end"]);
    let end = receiver.got().into_iter().find(|g| g.kind() == "share.ensure.end").unwrap();
    assert_eq!((&end.event["data"]["total"], &end.event["data"]["unchanged"]), (&json!(1), &json!(1)), "{}", end.event);
}

#[tokio::test]
async fn what_fails_is_told_too_after_its_start() {
    let receiver = Receiver::start().await;
    let site =
        faulty(&receiver, &["shares.extend=refuse:invalid", "share-shrink.shrink=refuse:invalid", "shares.delete=refuse:invalid"]).await;
    let member = site.member().await;
    let share = site.available_with(json!({ "size": 2 })).await;
    for (verb, size, then) in [("extend", 3, "extending_error"), ("shrink", 1, "shrinking_error")] {
        member.post(&action(&share), json!({ verb: { "new_size": size } })).await.expect(202);
        member.until(&format!("/shares/{share}"), |a| a.body()["share"]["status"] == then).await;
        site.tell(&share, "available").await;
    }
    member.delete(&format!("/shares/{share}")).await.expect(202);
    let told = receiver.until_taken(&share, "share.delete.error").await;
    let expected = [
        "share.create.start",
        "share.create.end",
        "share.extend.start",
        "share.extend.error",
        "share.reset_status",
        "share.shrink.start",
        "share.shrink.error",
        "share.reset_status",
        "share.delete.start",
        "share.delete.error",
    ];
    assert_eq!(told, expected);
    let error = receiver.got().into_iter().find(|g| g.kind() == "share.delete.error").unwrap();
    assert_eq!(error.event["data"]["status"], "error_deleting", "{}", error.event);
}

#[tokio::test]
async fn changes_of_access_rules_are_told_and_how_they_end() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let member = site.member().await;
    let share = site.available().await;
    allow(&member, &share, "10.0.0.1").await;
    receiver.until_taken(&share, "share.access.end").await;
    // NFS shares of this driver know addresses alone
    let user = json!({ "allow_access": { "access_type": "user", "access_to": "alice" } });
    member.post(&action(&share), user).await.expect(200);
    let told = receiver.until_taken(&share, "share.access.error").await;
    let expected =
        ["share.create.start", "share.create.end", "share.access.start", "share.access.end", "share.access.start", "share.access.error"];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_drivers_failure_to_apply_rules_is_told() {
    let receiver = Receiver::start().await;
    let site = faulty(&receiver, &["access.apply=refuse:invalid", "snapshot-access.apply=refuse:invalid"]).await;
    site.share_type("mountable", json!({ "snapshot_support": "True", "mount_snapshot_support": "True" })).await;
    let member = site.member().await;
    let share = site.available_with(json!({ "share_type": "mountable" })).await;
    allow(&member, &share, "10.0.0.1").await;
    let told = receiver.until_taken(&share, "share.access.error").await;
    assert_eq!(told[2..], ["share.access.start", "share.access.error"]);
    let taken = snapshot(&member, &share).await;
    let rule = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.1" } });
    member.post(&snapshot_action(&taken), rule).await.expect(202);
    let told = receiver.until_taken(&taken, "share_snapshot.access.error").await;
    let expected =
        ["share_snapshot.create.start", "share_snapshot.create.end", "share_snapshot.access.start", "share_snapshot.access.error"];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn the_life_of_a_shares_snapshot_is_told() {
    let receiver = Receiver::start().await;
    let site = faulty(&receiver, &["share-snapshots.delete#1=refuse:invalid"]).await;
    let member = site.member().await;
    let share = site.available().await;
    let id = try_snapshot(&member, &share, json!({})).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned();
    crate::site::snapshot_until(&member, &id, "available").await;
    member.put(&format!("/snapshots/{id}"), json!({ "snapshot": { "display_name": "n" } })).await.expect(200);
    member.put(&format!("/shares/{share}"), json!({ "share": { "display_name": "n" } })).await.expect(200);
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    let told = receiver.until_taken(&id, "share_snapshot.delete.error").await;
    let expected = [
        "share_snapshot.create.start",
        "share_snapshot.create.end",
        "share_snapshot.update.start",
        "share_snapshot.update.end",
        "share_snapshot.delete.start",
        "share_snapshot.delete.error",
    ];
    assert_eq!(told, expected);
    let told = receiver.until_taken(&share, "share.update.end").await;
    assert_eq!(told[2..], ["share.update.start", "share.update.end"]);
}

#[tokio::test]
async fn a_share_types_life_is_told_in_its_order() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let operator = site.operator().await;
    let specs = json!({ "driver_handles_share_servers": "false" });
    let private = json!({ "share_type": { "name": "told", "extra_specs": specs, "share_type_access:is_public": false } });
    let id = text(&operator.post("/types", private).await.expect(200)["share_type"]["id"]);
    let path = format!("/types/{id}");
    operator.put(&path, json!({ "share_type": { "description": "d" } })).await.expect(200);
    operator.post(&format!("{path}/extra_specs"), json!({ "extra_specs": { "a": "1" } })).await.expect(200);
    operator.delete(&format!("{path}/extra_specs/a")).await.expect(202);
    operator.post(&format!("{path}/action"), json!({ "addProjectAccess": { "project": operator.project_id } })).await.expect(202);
    operator.delete(&path).await.expect(202);
    let expected = [
        "share_type.create",
        "share_type.update",
        "share_type_extra_specs.create",
        "share_type_extra_specs.delete",
        "share_type_project.access.add",
        "share_type.delete",
    ];
    assert_eq!(receiver.until_taken(&id, "share_type.delete").await, expected);
}

#[tokio::test]
async fn a_share_group_types_life_is_told_in_its_order() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let operator = site.operator().await;
    let specs = json!({ "driver_handles_share_servers": "false" });
    let takes = text(
        &operator.post("/types", json!({ "share_type": { "name": "t", "extra_specs": specs } })).await.expect(200)["share_type"]["id"],
    );
    let asked = json!({ "share_group_type": { "name": "g", "share_types": [takes] } });
    let id = text(&operator.post("/share-group-types", asked).await.expect(200)["share_group_type"]["id"]);
    let path = format!("/share-group-types/{id}");
    operator.post(&format!("{path}/group-specs"), json!({ "group_specs": { "a": "1" } })).await.expect(200);
    operator.delete(&format!("{path}/group-specs/a")).await.expect(204);
    operator.delete(&path).await.expect(204);
    let expected = ["share_group_type.create", "share_group_type_specs.create", "share_group_type_specs.delete", "share_group_type.delete"];
    assert_eq!(receiver.until_taken(&id, "share_group_type.delete").await, expected);
}
