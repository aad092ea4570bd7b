//! What snapshots are for: shares made of them, and back to them.

use serde_json::{Value, json};

use crate::site::{Site, action, backend, create, snapshot, snapshot_action, snapshot_until, text, try_create};

/// With a share of `gib` whose type can do everything; the share and a snapshot of it.
async fn with_snapshot(site: &Site, gib: i64) -> (String, String) {
    let specs = json!({
        "snapshot_support": "True",
        "create_share_from_snapshot_support": "True",
        "revert_to_snapshot_support": "True",
    });
    site.share_type("full", specs).await;
    let share = site.available_with(json!({ "share_type": "full", "size": gib })).await;
    let id = snapshot(&site.member().await, &share).await;
    (share, id)
}

fn revert(snapshot: &str) -> Value {
    json!({ "revert": { "snapshot_id": snapshot } })
}

#[tokio::test]
async fn a_share_is_made_of_a_snapshot_beside_its_source() {
    let site = Site::with(json!({ "pools": ["p1:1000", "p2:1000", "p3:1000"] })).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let (share, id) = with_snapshot(&site, 2).await;
    let made = try_create(&member, json!({ "snapshot_id": id, "size": 3 })).await.expect(200)["share"].clone();
    assert_eq!((&made["status"], &made["snapshot_id"]), (&json!("creating"), &json!(id)));
    let copy = member.share_until(&text(&made["id"]), "available").await;
    assert_eq!((&copy["size"], &copy["share_type_name"]), (&json!(3), &json!("full")), "the type is the source's");
    let host = |id: &str| {
        let (operator, path) = (operator.clone(), format!("/shares/{id}"));
        async move { operator.get(&path).await.expect(200)["share"]["host"].clone() }
    };
    assert_eq!(host(&text(&made["id"])).await, host(&share).await);
}

#[tokio::test]
async fn without_a_size_it_is_as_large_as_the_snapshot() {
    let site = Site::start().await;
    let member = site.member().await;
    let (_, id) = with_snapshot(&site, 2).await;
    let made = try_create(&member, json!({ "snapshot_id": id, "size": null })).await.expect(200)["share"].clone();
    assert_eq!(made["size"], 2);
    member.share_until(&text(&made["id"]), "available").await;
}

#[tokio::test]
async fn before_2_54_it_is_just_being_created() {
    let site = Site::faulty(&["share-from-snapshot.create-from-snapshot=pending:1000000"]).await;
    let member = site.member().await;
    let (_, id) = with_snapshot(&site, 1).await;
    let path = format!("/shares/{}", create(&member, json!({ "snapshot_id": id })).await);
    assert_eq!(member.at("2.53").get(&path).await.expect(200)["share"]["status"], "creating");
    assert_eq!(member.at("2.54").get(&path).await.expect(200)["share"]["status"], "creating_from_snapshot");
}

#[tokio::test]
async fn a_long_copy_is_polled_until_it_ends() {
    let site = Site::faulty(&["share-from-snapshot.create-from-snapshot=pending:2"]).await;
    let member = site.member().await;
    let (_, id) = with_snapshot(&site, 1).await;
    let copy = create(&member, json!({ "snapshot_id": id })).await;
    member.share_until(&copy, "available").await;
}

#[tokio::test]
async fn what_does_not_fit_the_snapshot_is_refused() {
    let site = Site::start().await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    let (_, id) = with_snapshot(&site, 2).await;
    for bad in [json!({ "size": 1 }), json!({ "size": 2, "share_type": "default" }), json!({ "size": 2, "share_proto": "CIFS" })] {
        let mut asked = bad.clone();
        asked["snapshot_id"] = json!(id);
        assert_eq!(try_create(&member, asked).await.status, 400, "{bad}");
    }
    try_create(&stranger, json!({ "snapshot_id": id, "size": 2 })).await.expect(404);
    operator.post(&snapshot_action(&id), json!({ "reset_status": { "status": "error" } })).await.expect(202);
    try_create(&member, json!({ "snapshot_id": id, "size": 2 })).await.expect(400);
}

#[tokio::test]
async fn a_share_says_whether_others_are_made_of_its_snapshots() {
    let site = Site::start().await;
    let member = site.member().await;
    site.share_type("closed", json!({ "snapshot_support": "True" })).await;
    let share = site.available_with(json!({ "share_type": "closed" })).await;
    let id = snapshot(&member, &share).await;
    try_create(&member, json!({ "snapshot_id": id })).await.expect(400);
}

#[tokio::test]
async fn a_snapshot_stays_while_a_share_is_made_of_it() {
    let site = Site::faulty(&["share-from-snapshot.create-from-snapshot=pending:1000000"]).await;
    let member = site.member().await;
    let (_, id) = with_snapshot(&site, 1).await;
    create(&member, json!({ "snapshot_id": id })).await;
    member.delete(&format!("/snapshots/{id}")).await.expect(409);
    site.operator().await.post(&snapshot_action(&id), json!({ "force_delete": null })).await.expect(409);
}

#[tokio::test]
async fn a_snapshot_may_go_when_its_copy_is_whole() {
    let site = Site::start().await;
    let member = site.member().await;
    let (_, id) = with_snapshot(&site, 1).await;
    let copy = create(&member, json!({ "snapshot_id": id })).await;
    member.share_until(&copy, "available").await;
    let used = member.get("/snapshots?usage=used").await.expect(200);
    assert_eq!(used["snapshots"][0]["id"], json!(id));
    assert_eq!(member.get("/snapshots?usage=unused").await.expect(200)["snapshots"], json!([]));
    // the job ends after the share shows available
    support::wait::until("the delete to be taken", || async {
        (member.delete(&format!("/snapshots/{id}")).await.status == 202).then_some(())
    })
    .await;
    member.until_gone(&format!("/snapshots/{id}")).await;
    assert_eq!(member.get(&format!("/shares/{copy}")).await.expect(200)["share"]["snapshot_id"], json!(id));
}

#[tokio::test]
async fn a_driver_that_fails_to_copy_says_so() {
    let site = Site::faulty(&["share-from-snapshot.create-from-snapshot=refuse:invalid"]).await;
    let member = site.member().await;
    let (_, id) = with_snapshot(&site, 1).await;
    let copy = create(&member, json!({ "snapshot_id": id })).await;
    member.until(&format!("/shares/{copy}"), |a| a.body()["share"]["status"] == "error").await;
    let messages = site.messages(&copy).await;
    assert!(messages.iter().any(|m| m.starts_with("create: Share Driver has failed to create the share from snapshot.")), "{messages:?}");
}

#[tokio::test]
async fn a_share_goes_back_to_its_latest_snapshot() {
    let site = Site::start().await;
    let member = site.member().await;
    let (share, older) = with_snapshot(&site, 1).await;
    let latest = snapshot(&member, &share).await;
    member.post(&action(&share), revert(&older)).await.expect(409);
    member.at("2.26").post(&action(&share), revert(&latest)).await.expect(404);
    member.post(&action(&share), revert(&latest)).await.expect(202);
    member.share_until(&share, "available").await;
    snapshot_until(&member, &latest, "available").await;
}

#[tokio::test]
async fn a_revert_that_cannot_be_is_refused() {
    let site = Site::configured(vec![backend("m", json!({}))], |_| {}).await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    let (share, id) = with_snapshot(&site, 1).await;
    let other = site.available().await;
    let of_other = snapshot(&member, &other).await;
    member.post(&action(&other), revert(&of_other)).await.expect(400);
    member.post(&action(&share), revert(&of_other)).await.expect(400);
    member.post(&action(&share), revert(&crate::site::uuid())).await.expect(400);
    member.post(&action(&share), json!({ "revert": {} })).await.expect(400);
    stranger.post(&action(&share), revert(&id)).await.expect(404);
    site.tell(&share, "error").await;
    member.post(&action(&share), revert(&id)).await.expect(409);
    site.tell(&share, "available").await;
    operator.post(&snapshot_action(&id), json!({ "reset_status": { "status": "error" } })).await.expect(202);
    member.post(&action(&share), revert(&id)).await.expect(409);
    operator.post(&snapshot_action(&id), json!({ "reset_status": { "status": "available" } })).await.expect(202);
    member.post(&action(&share), json!({ "extend": { "new_size": 2 } })).await.expect(202);
    member.share_until(&share, "available").await;
    member.post(&action(&share), revert(&id)).await.expect(409);
    assert_eq!(member.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"]["status"], "available");
}

#[tokio::test]
async fn a_revert_that_fails_ends_in_error_and_its_snapshot_is_available() {
    let site = Site::faulty(&["share-revert.revert=refuse:unsupported"]).await;
    let member = site.member().await;
    let (share, id) = with_snapshot(&site, 1).await;
    member.post(&action(&share), revert(&id)).await.expect(202);
    member.until(&format!("/shares/{share}"), |a| a.body()["share"]["status"] == "reverting_error").await;
    snapshot_until(&member, &id, "available").await;
    assert!(site.messages(&share).await.iter().any(|m| m.starts_with("revert to snapshot: Share reverting to snapshot failed.")));
}
