//! Share servers that move to another back end or another network: what everything is before, meanwhile and afterwards.

use serde_json::{Value, json};
use support::{Answer, Client, both_databases, db::Db};

use crate::{
    served::{available, create_with, network, one, paths, servers, site_with},
    site::{Site, action, allow, snapshot, snapshot_action, text},
};

/// Servers are built on `m`, which has more room, and on `n`.
async fn two(db: &Db, of_n: Value) -> Site {
    let mut small = json!({ "pools": ["p1:100"] });
    small.as_object_mut().unwrap().extend(of_n.as_object().unwrap().clone());
    site_with(db, vec![servers("m", json!({})), servers("n", small)], |_| {}).await
}

/// A call about a server's migration, as an operator.
pub async fn ask(site: &Site, server: &str, verb: &str, body: Value) -> Answer {
    let operator = site.operator().await.with_header("X-OpenStack-Manila-API-Experimental", "True");
    operator.post(&format!("{}/action", one(server)), json!({ verb: body })).await
}

pub fn to(host: &str) -> Value {
    json!({ "host": host, "writable": false, "nondisruptive": false, "preserve_snapshots": false })
}

pub async fn until_task(operator: &Client, server: &str, task: &str) {
    operator.until(&one(server), |a| a.body()["share_server"]["task_state"] == task).await;
}

const HERE: &str = "stowage@m";
const THERE: &str = "stowage@n";

/// A share on `m`, and its server.
async fn placed(site: &Site, network: &str) -> (String, String) {
    let share = available(&site.member().await, network).await;
    let server = site.only_server(network).await;
    assert_eq!(site.operator().await.get(&one(&server)).await.expect(200)["share_server"]["host"], HERE);
    (share, server)
}

async fn destination(operator: &Client, server: &str) -> String {
    let listed = operator.get(&format!("/share-servers?source_share_server_id={server}&status=server_migrating_to")).await.expect(200);
    text(&listed["share_servers"][0]["id"])
}

both_databases! {
    async fn a_server_moves_with_its_shares_to_another_back_end_and_network(db) {
        let site = two(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let (id, new) = (network(&member, &["blue"]).await, network(&member, &["red"]).await);
        site.share_type("kept", json!({ "driver_handles_share_servers": "True", "snapshot_support": "True" })).await;
        let share = create_with(&member, &id, json!({ "share_type": "kept" })).await;
        member.share_until(&share, "available").await;
        let kept = snapshot(&member, &share).await;
        let server = site.only_server(&id).await;
        let rule = allow(&member, &share, "10.1.0.200").await;
        member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
        let before = paths(&member, &share).await;
        let mut wanted = to(THERE);
        wanted["new_share_network_id"] = json!(new);
        let checked = ask(&site, &server, "migration_check", wanted.clone()).await.expect(200);
        assert_eq!(checked["compatible"], true, "{checked}");
        ask(&site, &server, "migration_start", wanted).await.expect(202);
        until_task(&operator, &server, "migration_driver_phase1_done").await;
        let moving = destination(&operator, &server).await;
        assert_eq!(member.get(&format!("/shares/{share}")).await.expect(200)["share"]["status"], "server_migrating");
        assert_eq!(member.get(&format!("/snapshots/{kept}")).await.expect(200)["snapshot"]["status"], "server_migrating");
        member.post("/snapshots", json!({ "snapshot": { "share_id": share } })).await.expect(400);
        operator.post(&snapshot_action(&kept), json!({ "force_delete": null })).await.expect(403);
        member.post(&action(&share), json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.9" } })).await.expect(400);
        member.delete(&format!("/share-networks/{id}")).await.expect(409);
        member.delete(&format!("/share-networks/{new}")).await.expect(409);
        let progress = ask(&site, &server, "migration_get_progress", Value::Null).await.expect(200);
        assert_eq!(progress, json!({ "total_progress": 100, "task_state": "migration_driver_phase1_done", "destination_share_server_id": moving }));
        let completing = ask(&site, &server, "migration_complete", Value::Null).await.expect(200);
        assert_eq!(completing, json!({ "destination_share_server_id": moving }));
        until_task(&operator, &moving, "migration_success").await;
        let shown = operator.get(&format!("/shares/{share}")).await.expect(200)["share"].clone();
        assert_eq!(
            (&shown["status"], &shown["share_server_id"], &shown["share_network_id"], &shown["host"]),
            (&json!("available"), &json!(moving), &json!(new), &json!(format!("{THERE}#p1")))
        );
        let moved = operator.get(&one(&moving)).await.expect(200)["share_server"].clone();
        assert_eq!((&moved["status"], &moved["source_share_server_id"]), (&json!("active"), &json!(server)));
        let after = paths(&member, &share).await;
        assert!(!after.is_empty() && after.iter().all(|p| !before.contains(p) && p.starts_with("10.2.0.")), "{after:?}");
        operator.until_gone(&one(&server)).await;
        member.until(&format!("/shares/{share}"), |a| a.body()["share"]["access_rules_status"] == "active").await;
        member.delete(&format!("/snapshots/{kept}")).await.expect(202);
        member.until_gone(&format!("/snapshots/{kept}")).await;
        // the share works where it is, and nothing of it counts where it was
        member.post(&action(&share), json!({ "extend": { "new_size": 3 } })).await.expect(202);
        assert_eq!(member.share_until(&share, "available").await["size"], 3);
        let allocated = |host: &'static str| { let store = site.app().store.clone(); async move {
            store.pools_of(host).await.unwrap().iter().map(|p| p.allocated_gib).sum::<i64>()
        } };
        assert_eq!((allocated(HERE).await, allocated(THERE).await), (0, 3));
        assert_eq!(site.given().await.len(), 1, "the source's address is given back");
        member.delete(&format!("/share-networks/{id}")).await.expect(202);
        member.delete(&format!("/shares/{share}")).await.expect(202);
        member.until_gone(&format!("/shares/{share}")).await;
    }

    async fn a_migration_that_is_cancelled_leaves_everything_as_it_was(db) {
        let site = two(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let (share, server) = placed(&site, &id).await;
        let before = paths(&member, &share).await;
        ask(&site, &server, "migration_start", to(THERE)).await.expect(202);
        until_task(&operator, &server, "migration_driver_phase1_done").await;
        let moving = destination(&operator, &server).await;
        // what the job decides nobody else does
        operator.post(&format!("{}/action", one(&server)), json!({ "reset_status": { "status": "active" } })).await.expect(400);
        operator.post(&format!("{}/action", one(&moving)), json!({ "reset_status": { "status": "active" } })).await.expect(400);
        operator.post(&action(&share), json!({ "reset_status": { "status": "available" } })).await.expect(400);
        operator.post(&action(&share), json!({ "force_delete": null })).await.expect(400);
        ask(&site, &server, "migration_cancel", Value::Null).await.expect(202);
        until_task(&operator, &server, "migration_cancelled").await;
        operator.get(&one(&moving)).await.expect(404);
        assert_eq!(operator.get(&one(&server)).await.expect(200)["share_server"]["status"], "active");
        assert_eq!(member.get(&format!("/shares/{share}")).await.expect(200)["share"]["status"], "available");
        assert_eq!(paths(&member, &share).await, before);
        assert_eq!(site.given().await.len(), 1);
        for verb in ["migration_cancel", "migration_complete", "migration_get_progress"] {
            ask(&site, &server, verb, Value::Null).await.expect(400);
        }
        // and again, to its end
        ask(&site, &server, "migration_start", to(THERE)).await.expect(202);
        until_task(&operator, &server, "migration_driver_phase1_done").await;
        let moving = destination(&operator, &server).await;
        ask(&site, &server, "migration_complete", Value::Null).await.expect(200);
        until_task(&operator, &moving, "migration_success").await;
        operator.until_gone(&one(&server)).await;
    }

    async fn what_cannot_move_is_refused_before_anything_begins(db) {
        let site = two(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let (share, server) = placed(&site, &id).await;
        for verb in ["migration_check", "migration_start"] {
            let asked = |body: Value| ask(&site, &server, verb, body);
            asked(to("stowage@nowhere")).await.expect(404);
            let mut both = to("stowage@nowhere");
            both["new_share_network_id"] = json!("nothing");
            asked(both).await.expect(400);
            asked(json!({ "host": THERE })).await.expect(400);
            asked(to(&format!("{THERE}#p1"))).await.expect(400);
            asked(to(HERE)).await.expect(409);
            ask(&site, "unknown", verb, to(THERE)).await.expect(404);
        }
        let mut quiet = to(THERE);
        quiet["nondisruptive"] = json!(true);
        let checked = ask(&site, &server, "migration_check", quiet.clone()).await.expect(200);
        assert_eq!((&checked["compatible"], &checked["supported_capabilities"]["nondisruptive"]), (&json!(false), &json!(false)));
        ask(&site, &server, "migration_start", quiet).await.expect(409);
        operator.post(&action(&share), json!({ "reset_status": { "status": "error" } })).await.expect(202);
        ask(&site, &server, "migration_start", to(THERE)).await.expect(409);
        operator.post(&action(&share), json!({ "reset_status": { "status": "available" } })).await.expect(202);
        assert_eq!(site.servers(&id).await.len(), 1, "nothing was begun");
    }

    async fn a_destination_that_cannot_be_built_leaves_everything_as_it_was(db) {
        fails(&db, "share-servers.setup=refuse:invalid", false).await;
    }

    async fn a_driver_that_cannot_begin_leaves_everything_as_it_was(db) {
        fails(&db, "share-server-migration.start=refuse:invalid", false).await;
    }

    async fn a_driver_that_cannot_end_leaves_everything_as_it_was(db) {
        fails(&db, "share-server-migration.complete=refuse:invalid", true).await;
    }
}

/// A migration that comes to nothing, in its last step or before.
async fn fails(db: &Db, fault: &str, is_last: bool) {
    let site = two(db, json!({ "faults": [fault] })).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = network(&member, &["blue"]).await;
    let (share, server) = placed(&site, &id).await;
    ask(&site, &server, "migration_start", to(THERE)).await.expect(202);
    if is_last {
        until_task(&operator, &server, "migration_driver_phase1_done").await;
        ask(&site, &server, "migration_complete", Value::Null).await.expect(200);
    }
    until_task(&operator, &server, "migration_error").await;
    assert_eq!(operator.get(&one(&server)).await.expect(200)["share_server"]["status"], "active");
    assert_eq!(member.get(&format!("/shares/{share}")).await.expect(200)["share"]["status"], "available");
    assert_eq!(site.servers(&id).await.len(), 1);
    assert_eq!(site.given().await.len(), 1);
    assert!(site.messages(&server).await[0].contains("could not be migrated"));
    member.delete(&format!("/shares/{share}")).await.expect(202);
    member.until_gone(&format!("/shares/{share}")).await;
    site.delete_server(&server).await;
}
