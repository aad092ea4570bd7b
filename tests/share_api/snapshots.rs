//! Snapshots of shares from create to delete, their lists and their pairs.

use serde_json::{Value, json};
use support::{Client, Persona};

use crate::site::{Site, action, backend, keys, snapshot, snapshot_action, snapshot_until, text, try_snapshot, uuid};

#[tokio::test]
async fn a_snapshot_is_taken_and_is_then_available() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available_with(json!({ "size": 2 })).await;
    let asked = json!({ "name": "n", "description": "d", "metadata": { "k": "v" } });
    let made = try_snapshot(&member, &share, asked).await.expect(202)["snapshot"].clone();
    assert_eq!((&made["status"], &made["share_id"], &made["share_proto"]), (&json!("creating"), &json!(share), &json!("NFS")));
    assert_eq!((&made["size"], &made["share_size"]), (&json!(2), &json!(2)));
    assert_eq!((&made["name"], &made["description"], &made["metadata"]), (&json!("n"), &json!("d"), &json!({ "k": "v" })));
    let whole = snapshot_until(&member, &text(&made["id"]), "available").await;
    assert!(whole.get("provider_location").is_none());
    assert_eq!(whole["project_id"], json!(member.project_id));
    let shown = site.operator().await.get(&format!("/snapshots/{}", text(&made["id"]))).await.expect(200);
    assert!(shown["snapshot"]["provider_location"].as_str().unwrap().starts_with("memory-"));
}

#[tokio::test]
async fn fields_follow_the_version() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = snapshot(&member, &site.available().await).await;
    let at = |version: &'static str| {
        let (client, path) = (member.at(version), format!("/snapshots/{id}"));
        async move { client.get(&path).await.expect(200)["snapshot"].clone() }
    };
    let base = ["created_at", "description", "id", "links", "name", "share_id", "share_proto", "share_size", "size", "status"];
    assert_eq!(keys(&at("2.0").await), base);
    assert_eq!(keys(&at("2.17").await).len(), 12);
    assert_eq!(keys(&at("2.73").await).len(), 13);
    let links = at("2.99").await["links"].clone();
    assert!(links[0]["href"].as_str().unwrap().ends_with(&format!("/v2/snapshots/{id}")));
}

#[tokio::test]
async fn bad_creates_are_refused_and_count_nowhere() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let share = site.available().await;
    member.post("/snapshots", json!({})).await.expect(422);
    member.post("/snapshots", json!({ "snapshot": {} })).await.expect(400);
    try_snapshot(&member, &uuid(), json!({})).await.expect(404);
    try_snapshot(&stranger, &share, json!({})).await.expect(404);
    try_snapshot(&site.share(Persona::Reader).await, &share, json!({})).await.expect(403);
    for bad in [json!({ "name": "n".repeat(256) }), json!({ "metadata": { "": "v" } }), json!({ "force": "perhaps" })] {
        assert_eq!(try_snapshot(&member, &share, bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(site.used(&member, "snapshots").await, 0);
}

#[tokio::test]
async fn a_share_without_snapshots_has_none() {
    let site = Site::start().await;
    site.share_type("plain", json!({})).await;
    let share = site.available_with(json!({ "share_type": "plain" })).await;
    try_snapshot(&site.member().await, &share, json!({})).await.expect(422);
}

#[tokio::test]
async fn only_an_available_share_is_snapshotted_unless_it_is_forced() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    site.tell(&share, "error").await;
    try_snapshot(&member, &share, json!({})).await.expect(400);
    let made = try_snapshot(&member, &share, json!({ "force": true })).await.expect(202);
    snapshot_until(&member, &text(&made["snapshot"]["id"]), "available").await;
    site.tell(&share, "migrating").await;
    try_snapshot(&member, &share, json!({ "force": true })).await.expect(400);
}

#[tokio::test]
async fn in_the_bin_no_snapshot_is_taken() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available().await;
    member.post(&action(&share), json!({ "soft_delete": null })).await.expect(202);
    try_snapshot(&member, &share, json!({})).await.expect(403);
}

#[tokio::test]
async fn a_share_stays_while_it_has_snapshots() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let id = snapshot(&member, &share).await;
    member.delete(&format!("/shares/{share}")).await.expect(403);
    member.post(&action(&share), json!({ "soft_delete": null })).await.expect(403);
    operator.post(&action(&share), json!({ "force_delete": null })).await.expect(400);
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
    member.delete(&format!("/shares/{share}")).await.expect(202);
    member.until_gone(&format!("/shares/{share}")).await;
}

#[tokio::test]
async fn a_snapshot_counts_in_its_quota_until_it_is_gone() {
    let site = Site::configured(vec![backend("m", json!({}))], |c| {
        c.quota.share.snapshots = 2;
        c.quota.share.snapshot_gigabytes = 5;
    })
    .await;
    let member = site.member().await;
    let (large, small) = (site.available_with(json!({ "size": 3 })).await, site.available().await);
    let id = snapshot(&member, &large).await;
    let refused = try_snapshot(&member, &large, json!({})).await.expect(413);
    assert!(refused["overLimit"]["message"].as_str().unwrap().starts_with("SnapshotSizeExceedsAvailableQuota: "), "{refused}");
    snapshot(&member, &small).await;
    let refused = try_snapshot(&member, &small, json!({})).await.expect(413);
    assert!(refused["overLimit"]["message"].as_str().unwrap().starts_with("SnapshotLimitExceeded: "), "{refused}");
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "snapshot_gigabytes").await), (2, 4));
    assert_eq!(site.used(&member, "gigabytes").await, 4, "gigabytes are the shares'");
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "snapshot_gigabytes").await), (1, 1));
}

#[tokio::test]
async fn what_is_recorded_of_snapshots_is_what_there_is() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available_with(json!({ "size": 2 })).await;
    snapshot(&member, &share).await;
    snapshot(&member, &share).await;
    let mut tx = site.app().store.begin().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    assert!(counted.iter().any(|c| c.resource == "share:snapshot_gigabytes" && c.amount == 4), "{counted:?}");
    let drift = tx.quota_check(&counted, stowage::store::sql::quota_count::is_counted, false).await.unwrap();
    assert!(drift.is_empty(), "{drift:?}");
}

#[tokio::test]
async fn only_what_is_idle_is_deleted_and_anything_by_force() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = snapshot(&member, &site.available().await).await;
    for status in ["creating", "deleting", "error_deleting"] {
        operator.post(&snapshot_action(&id), json!({ "reset_status": { "status": status } })).await.expect(202);
        assert_eq!(member.delete(&format!("/snapshots/{id}")).await.status, 403, "{status}");
    }
    member.post(&snapshot_action(&id), json!({ "force_delete": null })).await.expect(403);
    operator.post(&snapshot_action(&id), json!({ "force_delete": null })).await.expect(202);
    operator.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!(site.used(&member, "snapshots").await, 0);
}

#[tokio::test]
async fn an_operator_says_what_a_snapshot_is() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = snapshot(&member, &site.available().await).await;
    operator.at("2.6").post(&snapshot_action(&id), json!({ "os-reset_status": { "status": "error" } })).await.expect(202);
    assert_eq!(member.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"]["status"], "error");
    for bad in ["nonsense", "restoring"] {
        operator.post(&snapshot_action(&id), json!({ "reset_status": { "status": bad } })).await.expect(400);
    }
    member.post(&snapshot_action(&id), json!({ "reset_status": { "status": "available" } })).await.expect(403);
}

#[tokio::test]
async fn a_name_and_a_description_change_and_go() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = snapshot(&member, &site.available().await).await;
    let path = format!("/snapshots/{id}");
    let changed = member.put(&path, json!({ "snapshot": { "display_name": "new", "display_description": "d" } })).await.expect(200);
    assert_eq!((&changed["snapshot"]["name"], &changed["snapshot"]["description"]), (&json!("new"), &json!("d")));
    let changed = member.put(&path, json!({ "snapshot": { "display_description": null } })).await.expect(200)["snapshot"].clone();
    assert_eq!((&changed["name"], &changed["description"]), (&json!("new"), &Value::Null));
    member.put(&path, json!({ "wrong": {} })).await.expect(422);
    site.stranger().await.put(&path, json!({ "snapshot": { "display_name": "x" } })).await.expect(404);
}

#[tokio::test]
async fn another_projects_snapshot_is_not_found_on_every_path() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let id = snapshot(&member, &site.available().await).await;
    stranger.get(&format!("/snapshots/{id}")).await.expect(404);
    stranger.delete(&format!("/snapshots/{id}")).await.expect(404);
    stranger.get(&format!("/snapshots/{id}/metadata")).await.expect(404);
    assert_eq!(ids(&stranger, "/snapshots").await, Vec::<String>::new());
    let everything = site.operator().await;
    assert_eq!(ids(&everything, "/snapshots?all_tenants=1").await, [id]);
    assert_eq!(ids(&stranger, "/snapshots?all_tenants=1").await, Vec::<String>::new());
}

async fn ids(client: &Client, path: &str) -> Vec<String> {
    let listed = client.get(path).await.expect(200);
    listed["snapshots"].as_array().unwrap().iter().map(|s| text(&s["id"])).collect()
}

#[tokio::test]
async fn lists_have_filters_sorts_pages_and_counts() {
    let site = Site::start().await;
    let member = site.member().await;
    let (one, two) = (site.available().await, site.available_with(json!({ "size": 2 })).await);
    let mut made = Vec::new();
    for (share, name) in [(&one, "a"), (&one, "ab"), (&two, "c")] {
        let asked = json!({ "name": name, "metadata": { "name": name } });
        let id = text(&try_snapshot(&member, share, asked).await.expect(202)["snapshot"]["id"]);
        snapshot_until(&member, &id, "available").await;
        made.push(id);
    }
    let [a, ab, c] = <[String; 3]>::try_from(made).unwrap();
    assert_eq!(ids(&member, "/snapshots").await, [c.clone(), ab.clone(), a.clone()], "the newest first");
    assert_eq!(ids(&member, "/snapshots?sort_key=name&sort_dir=asc").await, [a.clone(), ab.clone(), c.clone()]);
    assert_eq!(ids(&member, &format!("/snapshots?share_id={two}")).await, [c.clone()]);
    assert_eq!(ids(&member, "/snapshots?size=2").await, [c.clone()]);
    assert_eq!(ids(&member, "/snapshots?name=a").await, [a.clone()]);
    assert_eq!(ids(&member, "/snapshots?name~=a&sort_key=name&sort_dir=asc").await, [a.clone(), ab.clone()]);
    assert_eq!(ids(&member, "/snapshots?metadata={'name': 'ab'}").await, [ab.clone()]);
    assert_eq!(ids(&member, "/snapshots?status=error").await, Vec::<String>::new());
    let page = member.get("/snapshots/detail?limit=1&offset=1&with_count=true").await.expect(200);
    assert_eq!((&page["snapshots"][0]["id"], &page["count"]), (&json!(ab), &json!(3)));
    assert!(page["share_snapshots_links"][0]["href"].as_str().unwrap().contains(&format!("marker={ab}")), "{page}");
    assert!(member.at("2.78").get("/snapshots?with_count=true").await.expect(200).get("count").is_none());
    assert_eq!(keys(&member.get("/snapshots").await.expect(200)["snapshots"][0]), ["id", "links", "name"]);
    member.get("/snapshots?sort_key=color").await.expect(400);
}

#[tokio::test]
async fn pairs_are_merged_replaced_and_removed_from_2_73() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = snapshot(&member, &site.available().await).await;
    let all = format!("/snapshots/{id}/metadata");
    member.at("2.72").get(&all).await.expect(404);
    member.post(&all, json!({ "metadata": { "a": "1", "b": "2" } })).await.expect(200);
    assert_eq!(member.post(&all, json!({ "metadata": { "b": "3" } })).await.expect(200), json!({ "metadata": { "a": "1", "b": "3" } }));
    assert_eq!(member.get(&format!("{all}/a")).await.expect(200), json!({ "meta": { "a": "1" } }));
    member.post(&format!("{all}/a"), json!({ "metadata": { "b": "2" } })).await.expect(400);
    member.post(&format!("{all}/a"), json!({ "metadata": { "a": "9" } })).await.expect(200);
    member.put(&all, json!({ "metadata": { "c": "4" } })).await.expect(200);
    assert_eq!(member.get(&all).await.expect(200), json!({ "metadata": { "c": "4" } }));
    member.delete(&format!("{all}/c")).await.expect(200);
    member.delete(&format!("{all}/c")).await.expect(404);
    member.post(&all, json!({ "metadata": { "k": "v".repeat(1024) } })).await.expect(400);
}

#[tokio::test]
async fn a_driver_that_refuses_leaves_an_error_with_its_reason_and_no_quota_behind_the_delete() {
    let site = Site::faulty(&["share-snapshots.create=refuse:invalid"]).await;
    let member = site.member().await;
    let share = site.available().await;
    let id = text(&try_snapshot(&member, &share, json!({})).await.expect(202)["snapshot"]["id"]);
    member.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == "error").await;
    let messages = site.messages(&id).await;
    assert!(messages.iter().any(|m| m.starts_with("create snapshot: ") && m.contains("as it was told to")), "{messages:?}");
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    // nothing was made: no job is needed
    member.get(&format!("/snapshots/{id}")).await.expect(404);
    assert_eq!(site.used(&member, "snapshots").await, 0);
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again() {
    let site = Site::faulty(&["share-snapshots.create#1=lose-answer", "share-snapshots.delete#1=lose-answer"]).await;
    let member = site.member().await;
    let id = snapshot(&member, &site.available().await).await;
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
}

#[tokio::test]
async fn a_delete_that_fails_ends_in_error_and_works_by_force_later() {
    let site = Site::faulty(&["share-snapshots.delete#1=refuse:unsupported"]).await;
    let member = site.member().await;
    let id = snapshot(&member, &site.available().await).await;
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    member.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == "error_deleting").await;
    assert!(site.messages(&id).await.iter().any(|m| m.starts_with("delete snapshot: ")));
    site.operator().await.post(&snapshot_action(&id), json!({ "force_delete": null })).await.expect(202);
    member.until_gone(&format!("/snapshots/{id}")).await;
}

#[tokio::test]
async fn a_full_pool_has_no_room_for_a_snapshot() {
    let site = Site::with(json!({ "pools": ["p1:10"] })).await;
    let member = site.member().await;
    let share = site.available_with(json!({ "size": 8 })).await;
    let made = try_snapshot(&member, &share, json!({})).await.expect(202)["snapshot"].clone();
    assert_eq!(made["status"], "error");
    let messages = site.messages(&text(&made["id"])).await;
    assert_eq!(messages, ["create snapshot: No storage could be allocated for this share request, Capacity filter didn't succeed."]);
}
