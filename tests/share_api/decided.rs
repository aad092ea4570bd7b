//! What an operator may not decide: what a thing is, while a job makes it, deletes it or changes what it holds.

use serde_json::{Value, json};
use support::{Client, both_databases, db::Db};

use crate::{
    live::{Live, UPDATE, add, at_rest, faulty, said, server_until},
    net, served,
    site::{Site, action, backend, create, snapshot, snapshot_action, snapshot_until, text, try_snapshot},
};

const EVERYTHING: &str = "everything";

/// A service whose driver takes its time with these verbs.
async fn slow(db: &Db, verbs: &[&str]) -> Site {
    let faults: Vec<String> = verbs.iter().map(|verb| format!("{verb}=delay:2500")).collect();
    let site = Site::on(db, vec![backend("m", json!({ "faults": faults }))], |_| {}).await;
    let specs = json!({ "snapshot_support": "True", "revert_to_snapshot_support": "True" });
    site.share_type(EVERYTHING, specs).await;
    site
}

/// Each of these words is refused with the job that says what comes of it.
async fn refused(operator: &Client, path: &str, words: &[&str]) {
    for word in words {
        let body = operator.post(path, json!({ "reset_status": { "status": word } })).await.expect(400);
        assert!(said(&body).contains("says what comes of it"), "{path}: {body}");
    }
}

async fn instance(operator: &Client, share: &str) -> String {
    let listed = operator.get(&format!("/shares/{share}/instances")).await.expect(200);
    format!("/share_instances/{}/action", text(&listed["share_instances"][0]["id"]))
}

async fn snapshot_instance(operator: &Client, snapshot: &str) -> String {
    let listed = operator.get(&format!("/snapshot-instances?snapshot_id={snapshot}")).await.expect(200);
    format!("/snapshot-instances/{}/action", text(&listed["snapshot_instances"][0]["id"]))
}

both_databases! {
    async fn a_share_that_is_made_or_deleted_is_what_its_job_says(db) {
        let site = slow(&db, &["shares.create", "shares.delete"]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = create(&member, json!({})).await;
        refused(&operator, &action(&id), &["available", "error", "deleting"]).await;
        refused(&operator, &instance(&operator, &id).await, &["available", "error"]).await;
        let made = operator.share_until(&id, "available").await;
        assert_ne!(made["host"], Value::Null, "{made}");
        let locations = member.get(&format!("/shares/{id}/export_locations")).await.expect(200);
        assert_eq!(locations["export_locations"].as_array().unwrap().len(), 1, "{locations}");
        // at rest it is whatever he says
        for word in ["error", "deleting", "available"] {
            site.tell(&id, word).await;
        }
        member.delete(&format!("/shares/{id}")).await.expect(202);
        refused(&operator, &action(&id), &["available", "error"]).await;
        member.until_gone(&format!("/shares/{id}")).await;
    }

    async fn neither_a_share_that_is_reverted_nor_its_snapshot_is_said_to_be_something_else(db) {
        let site = slow(&db, &["share-revert.revert"]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available_with(json!({ "share_type": EVERYTHING })).await;
        let taken = snapshot(&member, &share).await;
        member.post(&action(&share), json!({ "revert": { "snapshot_id": taken } })).await.expect(202);
        refused(&operator, &action(&share), &["available", "error"]).await;
        refused(&operator, &snapshot_action(&taken), &["available", "error"]).await;
        refused(&operator, &snapshot_instance(&operator, &taken).await, &["available"]).await;
        member.share_until(&share, "available").await;
        snapshot_until(&member, &taken, "available").await;
    }

    async fn a_snapshot_that_is_taken_or_deleted_is_what_its_job_says(db) {
        let site = slow(&db, &["share-snapshots.create", "share-snapshots.delete"]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let share = site.available_with(json!({ "share_type": EVERYTHING })).await;
        let taken = text(&try_snapshot(&member, &share, json!({})).await.expect(202)["snapshot"]["id"]);
        refused(&operator, &snapshot_action(&taken), &["available", "error", "deleting"]).await;
        refused(&operator, &snapshot_instance(&operator, &taken).await, &["available"]).await;
        snapshot_until(&member, &taken, "available").await;
        member.delete(&format!("/snapshots/{taken}")).await.expect(202);
        refused(&operator, &snapshot_action(&taken), &["available", "error"]).await;
        member.until_gone(&format!("/snapshots/{taken}")).await;
    }

    async fn a_share_server_that_is_built_or_taken_down_is_what_its_job_says(db) {
        let site = served::site(&db, json!({ "faults": ["share-servers.setup=delay:2500", "share-servers.teardown=delay:2500"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let network = served::network(&member, &["blue"]).await;
        let share = served::create(&member, &network).await;
        let server = support::wait::until("the server", || async { site.servers(&network).await.pop() }).await;
        let path = format!("{}/action", served::one(&text(&server["id"])));
        refused(&operator, &path, &["active", "error"]).await;
        member.share_until(&share, "available").await;
        assert_eq!(site.servers(&network).await[0]["status"], "active");
        member.delete(&format!("/shares/{share}")).await.expect(202);
        member.until_gone(&format!("/shares/{share}")).await;
        operator.delete(&served::one(&text(&server["id"]))).await.expect(202);
        refused(&operator, &path, &["active", "error"]).await;
        operator.until_gone(&served::one(&text(&server["id"]))).await;
    }

    async fn neither_a_server_that_is_given_a_subnet_nor_its_network_is_said_to_be_something_else(db) {
        let site = faulty(&db, &[&format!("{UPDATE}=delay:2500")]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        add(&member, &live.network, "red").await;
        refused(&operator, &format!("{}/action", served::one(&live.server)), &["active", "error"]).await;
        refused(&operator, &net::action(&live.network), &["active", "error"]).await;
        at_rest(&member, &live.network).await;
        server_until(&site, &live.server, "active").await;
    }
}
