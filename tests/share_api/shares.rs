//! Shares from create to delete.

use serde_json::{Value, json};
use support::Persona;

use crate::site::{Site, action, backend, create, keys, try_create, uuid};

#[tokio::test]
async fn a_share_is_created_on_a_back_end_and_is_then_available() {
    let site = Site::start().await;
    let member = site.member().await;
    let made = try_create(&member, json!({ "name": "n", "description": "d", "metadata": { "k": "v" } })).await.expect(200)["share"].clone();
    assert_eq!((&made["status"], &made["size"], &made["share_proto"]), (&json!("creating"), &json!(1), &json!("NFS")));
    assert_eq!((&made["name"], &made["description"], &made["metadata"]), (&json!("n"), &json!("d"), &json!({ "k": "v" })));
    assert_eq!((&made["availability_zone"], &made["progress"]), (&Value::Null, &Value::Null), "not placed yet");
    let id = made["id"].as_str().unwrap();
    let share = member.share_until(id, "available").await;
    assert_eq!(
        (&share["availability_zone"], &share["progress"], &share["access_rules_status"]),
        (&json!("nova"), &json!("100%"), &json!("active"))
    );
    assert_eq!(share["share_type_name"], "default");
    assert_eq!((&share["snapshot_support"], &share["mount_snapshot_support"]), (&json!(true), &json!(false)));
    let admin = site.operator().await.get(&format!("/shares/{id}")).await.expect(200);
    assert_eq!(admin["share"]["host"], "stowage@m#p1");
    assert!(share.get("host").is_none() && share.get("share_server_id").is_none());
}

#[tokio::test]
async fn a_share_without_configuration_is_served_by_the_built_in_back_end() {
    let configured = stowage::config::load::without_a_file().backends;
    let shares = configured.into_iter().find(|b| b.kind == stowage::config::BackendKind::Share).expect("one of shares");
    let site = Site::configured(vec![shares], |_| {}).await;
    for protocol in ["nfs", "CIFS"] {
        site.available_with(json!({ "share_proto": protocol })).await;
    }
}

#[tokio::test]
async fn fields_follow_the_version() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available().await;
    let at = |version: &'static str| {
        let (client, path) = (member.at(version), format!("/shares/{id}"));
        async move { client.get(&path).await.expect(200)["share"].clone() }
    };
    let oldest = at("2.0").await;
    assert_eq!(oldest["share_type"], "default", "a name until 2.5");
    assert_eq!(oldest["export_location"], oldest["export_locations"][0]);
    assert!(oldest["export_location"].is_string());
    let newer = at("2.9").await;
    assert!(newer.get("export_location").is_none() && newer["share_type"] != "default");
    assert_eq!(keys(&at("2.99").await).len(), 34);
    assert_eq!(at("2.99").await["volume_type"], at("2.99").await["share_type"]);
    let links = at("2.99").await["links"].clone();
    assert!(links[0]["href"].as_str().unwrap().ends_with(&format!("/v2/shares/{id}")));
}

#[tokio::test]
async fn bad_creates_are_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    for (bad, status) in [
        (json!({ "size": 0 }), 400),
        (json!({ "size": "ten" }), 400),
        (json!({ "size": null }), 400),
        (json!({ "share_proto": "nonexistent" }), 400),
        (json!({ "share_proto": "HDFS" }), 400),
        (json!({ "share_proto": null }), 400),
        (json!({ "name": "x".repeat(256) }), 400),
        (json!({ "metadata": { "": "v" } }), 400),
        (json!({ "metadata": { "k".repeat(256): "v" } }), 400),
        (json!({ "metadata": { "k": "v".repeat(1024) } }), 400),
        (json!({ "is_public": "perhaps" }), 400),
        (json!({ "is_public": true }), 403),
        (json!({ "share_type": "nonexistent" }), 404),
        (json!({ "share_type": uuid() }), 404),
        (json!({ "share_type": "default", "volume_type": "default" }), 400),
        (json!({ "availability_zone": "nowhere" }), 404),
        (json!({ "share_network_id": uuid() }), 404),
        (json!({ "snapshot_id": uuid() }), 404),
        (json!({ "metadata": { "__affinity_same_host": "x" } }), 403),
        (json!({ "share_group_id": uuid() }), 400),
        (json!({ "mount_point_name": "m" }), 400),
    ] {
        let answer = try_create(&member, bad.clone()).await;
        assert_eq!(answer.status, status, "{bad}: {answer:?}");
    }
    member.post("/shares", json!({})).await.expect(422);
    assert_eq!(site.used(&member, "shares").await, 0, "what is refused counts nowhere");
}

#[tokio::test]
async fn a_mount_point_name_is_for_types_that_have_them_and_is_a_plain_word() {
    let site = Site::start().await;
    let member = site.member().await;
    site.share_type("named", json!({ "mount_point_name_support": "True" })).await;
    for bad in ["a/b", "..", "a b", "a\nb", "\u{e4}"] {
        try_create(&member, json!({ "share_type": "named", "mount_point_name": bad })).await.expect(400);
    }
    let id = create(&member, json!({ "share_type": "named", "mount_point_name": "Plain-word_1" })).await;
    // no back end of this site says that it has them
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error").await;
}

#[tokio::test]
async fn a_type_with_share_servers_needs_a_network() {
    let site = Site::start().await;
    site.share_type("servers", json!({ "driver_handles_share_servers": "True" })).await;
    let answer = try_create(&site.member().await, json!({ "share_type": "servers" })).await;
    assert!(answer.expect(400)["badRequest"]["message"].as_str().unwrap().contains("Share network must be set"));
    // a zone that is not there comes before that
    try_create(&site.member().await, json!({ "share_type": "servers", "availability_zone": "nowhere" })).await.expect(404);
}

#[tokio::test]
async fn without_a_default_type_a_share_needs_one() {
    let site = Site::configured(vec![backend("m", json!({}))], |c| c.share.default_share_type = String::new()).await;
    let answer = try_create(&site.member().await, json!({})).await;
    assert!(answer.expect(400)["badRequest"]["message"].as_str().unwrap().contains("No default share type"));
    site.available_with(json!({ "share_type": "default" })).await;
}

#[tokio::test]
async fn a_share_goes_with_its_rules_and_its_quota() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available_with(json!({ "size": 3 })).await;
    crate::site::allow(&member, &id, "10.0.0.1").await;
    assert_eq!((site.used(&member, "shares").await, site.used(&member, "gigabytes").await), (1, 3));
    assert_eq!(site.allocated().await, 3);
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.until_gone(&format!("/shares/{id}")).await;
    assert_eq!((site.used(&member, "shares").await, site.used(&member, "gigabytes").await), (0, 0));
    assert_eq!(site.allocated().await, 0);
    member.delete(&format!("/shares/{id}")).await.expect(404);
}

#[tokio::test]
async fn only_what_is_idle_is_deleted_and_anything_by_force() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    for status in ["creating", "deleting", "error_deleting", "migrating"] {
        site.tell(&id, status).await;
        assert_eq!(member.delete(&format!("/shares/{id}")).await.status, 403, "{status}");
    }
    member.post(&action(&id), json!({ "force_delete": null })).await.expect(403);
    operator.post(&action(&id), json!({ "force_delete": null })).await.expect(202);
    operator.until_gone(&format!("/shares/{id}")).await;
    assert_eq!(site.used(&member, "shares").await, 0);
}

#[tokio::test]
async fn a_share_is_the_projects_and_a_public_one_everybodys_to_see() {
    let site = Site::start().await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    let id = site.available().await;
    let path = format!("/shares/{id}");
    stranger.get(&path).await.expect(404);
    stranger.delete(&path).await.expect(404);
    stranger.put(&path, json!({ "share": { "display_name": "mine" } })).await.expect(404);
    member.put(&path, json!({ "share": { "is_public": true } })).await.expect(403);
    operator.put(&path, json!({ "share": { "is_public": true } })).await.expect(200);
    assert_eq!(stranger.get(&path).await.expect(200)["share"]["is_public"], true);
    stranger.delete(&path).await.expect(403);
    stranger.put(&path, json!({ "share": { "display_name": "mine" } })).await.expect(403);
    stranger.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(403);
    stranger.get(&format!("{path}/metadata")).await.expect(200);
    stranger.put(&format!("{path}/metadata"), json!({ "metadata": { "k": "v" } })).await.expect(403);
    member.put(&path, json!({ "share": { "is_public": false } })).await.expect(200);
    stranger.get(&path).await.expect(404);
}

#[tokio::test]
async fn a_name_and_a_description_change_and_go() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available_with(json!({ "name": "n", "description": "d" })).await;
    let path = format!("/shares/{id}");
    let changed = member.put(&path, json!({ "share": { "display_name": "new" } })).await.expect(200)["share"].clone();
    assert_eq!((&changed["name"], &changed["description"]), (&json!("new"), &json!("d")));
    let changed = member.put(&path, json!({ "share": { "display_description": null } })).await.expect(200)["share"].clone();
    assert_eq!(changed["description"], Value::Null);
    member.put(&path, json!({ "wrong": {} })).await.expect(422);
    member.put(&path, json!({ "share": { "is_public": "perhaps" } })).await.expect(400);
    site.share(Persona::Reader).await.put(&path, json!({ "share": { "display_name": "x" } })).await.expect(403);
}

#[tokio::test]
async fn a_driver_that_refuses_leaves_an_error_with_its_reason_and_no_quota_behind_the_delete() {
    let site = Site::faulty(&["shares.create=refuse:invalid"]).await;
    let member = site.member().await;
    let id = create(&member, json!({})).await;
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error").await;
    let messages = site.messages(&id).await;
    assert!(messages.iter().any(|m| m.contains("create: ") && m.contains("as it was told to")), "{messages:?}");
    let operator = site.operator().await;
    assert_eq!(operator.get(&format!("/shares/{id}")).await.expect(200)["share"]["host"], Value::Null);
    assert_eq!(site.allocated().await, 0);
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.get(&format!("/shares/{id}")).await.expect(404);
    assert_eq!(site.used(&member, "shares").await, 0);
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_the_share_made_once() {
    let site = Site::faulty(&["shares.create#1=lose-answer", "shares.delete#1=lose-answer"]).await;
    let member = site.member().await;
    let id = site.available().await;
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.until_gone(&format!("/shares/{id}")).await;
}

#[tokio::test]
async fn long_work_is_polled_until_it_ends() {
    let site = Site::faulty(&["shares.create=pending:2", "shares.extend=pending:2"]).await;
    let member = site.member().await;
    let id = site.available().await;
    member.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(202);
    assert_eq!(member.share_until(&id, "available").await["size"], 2);
}

#[tokio::test]
async fn a_delete_that_fails_ends_in_error_and_works_by_force_later() {
    let site = Site::faulty(&["shares.delete#1=refuse:unsupported"]).await;
    let member = site.member().await;
    let id = site.available().await;
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error_deleting").await;
    assert!(site.messages(&id).await.iter().any(|m| m.starts_with("delete: ")));
    member.delete(&format!("/shares/{id}")).await.expect(403);
    site.operator().await.post(&action(&id), json!({ "force_delete": null })).await.expect(202);
    member.until_gone(&format!("/shares/{id}")).await;
}

#[tokio::test]
async fn what_only_operators_may_is_refused_before_the_share_is_looked_for() {
    let site = Site::start().await;
    let (stranger, id) = (site.stranger().await, site.available().await);
    for body in [json!({ "force_delete": null }), json!({ "reset_status": { "status": "error" } })] {
        stranger.post(&action(&id), body.clone()).await.expect(403);
        stranger.post(&action("nothing"), body).await.expect(403);
    }
    stranger.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(404);
}
