//! Snapshots of shares that somebody else took and that are taken over, and snapshots that are let go of.

use serde_json::{Value, json};
use support::{Answer, Client, both_databases, db::Db};

use crate::{
    served::{self, create_with, servers},
    site::{Site, action, backend, snapshot, snapshot_action, snapshot_until, text, try_snapshot, uuid},
};

async fn start(db: &Db, options: Value) -> Site {
    Site::on(db, vec![backend("m", options)], |_| {}).await
}

async fn try_manage(client: &Client, share: &str, location: &str, members: Value) -> Answer {
    let mut asked = json!({ "share_id": share, "provider_location": location });
    asked.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/snapshots/manage", json!({ "snapshot": asked })).await
}

async fn manage(client: &Client, share: &str, location: &str) -> String {
    let id = text(&try_manage(client, share, location, json!({})).await.expect(202)["snapshot"]["id"]);
    snapshot_until(client, &id, "available").await;
    id
}

/// A snapshot that was let go of; what the array knows it by.
async fn let_go(operator: &Client, id: &str) -> String {
    let location = text(&operator.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"]["provider_location"]);
    unmanage(operator, id).await;
    location
}

async fn unmanage(operator: &Client, id: &str) {
    operator.post(&snapshot_action(id), json!({ "unmanage": null })).await.expect(202);
    operator.until_gone(&format!("/snapshots/{id}")).await;
}

async fn ends_in(client: &Client, id: &str, status: &str) {
    client.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == status).await;
}

/// Figures that differ from what they count.
async fn drift(site: &Site) -> usize {
    let mut tx = site.app().store.begin().await.unwrap();
    tx.lock_quota().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    tx.quota_check(&counted, |_| true, false).await.unwrap().len()
}

both_databases! {
    async fn a_snapshot_that_is_let_go_of_is_taken_over_again_with_its_own_size(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available_with(json!({ "size": 2 })).await;
        let taken = snapshot(&member, &share).await;
        let location = let_go(&operator, &taken).await;
        assert_eq!((site.used(&member, "snapshots").await, drift(&site).await), (0, 0));
        member.post(&action(&share), json!({ "extend": { "new_size": 5 } })).await.expect(202);
        member.share_until(&share, "available").await;
        let asked = json!({ "name": "n", "description": "d", "metadata": { "k": "v" }, "driver_options": {} });
        let made = try_manage(&operator, &share, &location, asked).await.expect(202)["snapshot"].clone();
        assert_eq!((&made["status"], &made["name"], &made["metadata"]), (&json!("manage_starting"), &json!("n"), &json!({ "k": "v" })));
        // the share's, whoever takes it over
        assert_eq!(made["project_id"], json!(member.project_id));
        let whole = snapshot_until(&member, &text(&made["id"]), "available").await;
        assert_eq!(whole["size"], 2, "{whole}");
        assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "snapshot_gigabytes").await), (1, 2));
        assert_eq!(drift(&site).await, 0);
        member.delete(&format!("/snapshots/{}", text(&made["id"]))).await.expect(202);
        member.until_gone(&format!("/snapshots/{}", text(&made["id"]))).await;
        assert_eq!((site.used(&member, "snapshot_gigabytes").await, drift(&site).await), (0, 0));
    }

    async fn what_is_managed_already_is_a_conflict_and_of_two_who_take_it_over_one_gets_it(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available().await;
        let taken = snapshot(&member, &share).await;
        let shown = operator.get(&format!("/snapshots/{taken}")).await.expect(200);
        try_manage(&operator, &share, &text(&shown["snapshot"]["provider_location"]), json!({})).await.expect(409);
        let location = let_go(&operator, &taken).await;
        let ask = || try_manage(&operator, &share, &location, json!({}));
        let mut got = 0;
        for answer in futures::future::join_all([ask(), ask(), ask()]).await {
            // once the array knows it by our id, only the array knows the old name
            if answer.status == 409 {
                continue;
            }
            let path = format!("/snapshots/{}", text(&answer.expect(202)["snapshot"]["id"]));
            operator.until(&path, |a| a.body()["snapshot"]["status"] != "manage_starting").await;
            match operator.get(&path).await.expect(200)["snapshot"]["status"].as_str() {
                Some("available") => got += 1,
                other => assert_eq!(other, Some("manage_error")),
            }
        }
        assert_eq!(got, 1);
    }

    async fn what_the_back_end_does_not_know_ends_in_an_error_that_is_let_go_of(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available().await;
        let id = text(&try_manage(&operator, &share, "nowhere", json!({})).await.expect(202)["snapshot"]["id"]);
        ends_in(&member, &id, "manage_error").await;
        let said = site.messages(&id).await;
        assert!(said.len() == 1 && said[0].starts_with("manage: Share Driver could not take over the snapshot."), "{said:?}");
        member.delete(&format!("/snapshots/{id}")).await.expect(403);
        unmanage(&operator, &id).await;
        assert_eq!((site.used(&member, "snapshots").await, drift(&site).await), (0, 0));
    }

    async fn lost_answers_are_asked_for_again(db) {
        let faults = json!({ "faults": ["share-snapshot-manage.adopt#1=lose-answer", "share-snapshot-manage.release#1=lose-answer"] });
        let site = start(&db, faults).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available().await;
        let location = let_go(&operator, &snapshot(&member, &share).await).await;
        let id = manage(&operator, &share, &location).await;
        assert_eq!((site.used(&member, "snapshots").await, drift(&site).await), (1, 0));
        unmanage(&operator, &id).await;
    }

    async fn what_must_not_be_let_go_of_is_not(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available().await;
        let taken = snapshot(&member, &share).await;
        for status in ["creating", "deleting"] {
            operator.post(&snapshot_action(&taken), json!({ "reset_status": { "status": status } })).await.expect(202);
            operator.post(&snapshot_action(&taken), json!({ "unmanage": null })).await.expect(403);
        }
        operator.post(&snapshot_action(&taken), json!({ "reset_status": { "status": "error" } })).await.expect(202);
        member.post(&snapshot_action(&taken), json!({ "unmanage": null })).await.expect(403);
        operator.at("2.11").post(&snapshot_action(&taken), json!({ "unmanage": null })).await.expect(404);
        operator.post(&snapshot_action(&uuid()), json!({ "unmanage": null })).await.expect(404);
        unmanage(&operator, &taken).await;
        member.delete(&format!("/shares/{share}")).await.expect(202);
    }

    async fn bad_requests_are_refused_and_count_nowhere(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available().await;
        operator.post("/snapshots/manage", json!({})).await.expect(422);
        try_manage(&operator, &share, "", json!({})).await.expect(422);
        try_manage(&operator, &uuid(), "l", json!({})).await.expect(404);
        for (members, status) in [
            (json!({ "share_id": null }), 422),
            (json!({ "driver_options": [] }), 400),
            (json!({ "name": "n".repeat(256) }), 400),
            (json!({ "metadata": "text" }), 400),
        ] {
            assert_eq!(try_manage(&operator, &share, "l", members.clone()).await.status, status, "{members}");
        }
        try_manage(&member, &share, "l", json!({})).await.expect(403);
        try_manage(&operator.at("2.11"), &share, "l", json!({})).await.expect(404);
        site.tell(&share, "error").await;
        try_manage(&operator, &share, "l", json!({})).await.expect(409);
        site.tell(&share, "available").await;
        assert_eq!(site.used(&member, "snapshots").await, 0);
        try_snapshot(&member, &share, json!({})).await.expect(202);
    }

    async fn on_share_servers_they_are_taken_over_from_2_49(db) {
        let site = served::site_with(&db, vec![servers("m", json!({}))], |_| {}).await;
        site.share_type("snappy", json!({ "driver_handles_share_servers": "True", "snapshot_support": "True" })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let network = served::network(&member, &["blue"]).await;
        let share = create_with(&member, &network, json!({ "share_type": "snappy" })).await;
        member.share_until(&share, "available").await;
        let taken = snapshot(&member, &share).await;
        operator.at("2.48").post(&snapshot_action(&taken), json!({ "unmanage": null })).await.expect(403);
        let location = let_go(&operator, &taken).await;
        try_manage(&operator.at("2.48"), &share, &location, json!({})).await.expect(403);
        manage(&operator, &share, &location).await;
    }
}
