//! Shares that somebody else made and that are taken over, and shares that are let go of.

use serde_json::{Value, json};
use support::{Answer, Client, both_databases, db::Db};

use crate::{
    net,
    served::{self, SERVED, one, paths, servers},
    site::{Site, action, allow, backend, snapshot, text, uuid},
};

const HOST: &str = "stowage@m#p1";

async fn start(db: &Db, options: Value) -> Site {
    let mut all = json!({ "foreign": ["legacy:7", "other:1"] });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    Site::on(db, vec![backend("m", all)], |_| {}).await
}

fn path_of(name: &str) -> String {
    format!("192.0.2.10:/shares/{name}")
}

async fn try_manage(client: &Client, name: &str, members: Value) -> Answer {
    let mut share = json!({ "service_host": HOST, "export_path": path_of(name), "protocol": "nfs" });
    share.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/shares/manage", json!({ "share": share })).await
}

/// A share that was taken over; its id.
async fn manage(client: &Client, name: &str, members: Value) -> String {
    let id = text(&try_manage(client, name, members).await.expect(200)["share"]["id"]);
    client.share_until(&id, "available").await;
    id
}

async fn ends_in(client: &Client, id: &str, status: &str) {
    client.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == status).await;
}

async fn unmanage(client: &Client, id: &str) {
    client.post(&action(id), json!({ "unmanage": null })).await.expect(202);
    client.until_gone(&format!("/shares/{id}")).await;
}

/// Figures that differ from what they count.
async fn drift(site: &Site) -> usize {
    let mut tx = site.app().store.begin().await.unwrap();
    tx.lock_quota().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    tx.quota_check(&counted, |_| true, false).await.unwrap().len()
}

both_databases! {
    async fn a_share_that_is_taken_over_has_the_size_and_the_places_it_had_and_counts(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        let asked = json!({ "name": "n", "description": "d", "is_public": true });
        let made = try_manage(&operator, "legacy", asked).await.expect(200)["share"].clone();
        assert_eq!((&made["status"], &made["size"], &made["host"]), (&json!("manage_starting"), &json!(0), &json!(HOST)));
        assert_eq!((&made["share_proto"], &made["name"], &made["is_public"]), (&json!("NFS"), &json!("n"), &json!(true)));
        let id = text(&made["id"]);
        let share = operator.share_until(&id, "available").await;
        assert_eq!((&share["size"], &share["project_id"]), (&json!(7), &json!(operator.project_id)));
        assert!(!paths(&operator, &id).await.is_empty());
        assert_eq!((site.used(&operator, "shares").await, site.used(&operator, "gigabytes").await), (1, 7));
        assert_eq!((site.allocated().await, drift(&site).await), (7, 0));
        // it is a share like any other
        allow(&operator, &id, "10.0.0.1").await;
        operator.until(&format!("/shares/{id}"), |a| a.body()["share"]["access_rules_status"] == "active").await;
        operator.post(&action(&id), json!({ "extend": { "new_size": 8 } })).await.expect(202);
        operator.share_until(&id, "available").await;
        operator.delete(&format!("/shares/{id}")).await.expect(202);
        operator.until_gone(&format!("/shares/{id}")).await;
        assert_eq!((site.used(&operator, "gigabytes").await, site.allocated().await, drift(&site).await), (0, 0, 0));
    }

    async fn a_share_that_is_let_go_of_is_taken_over_again_as_it_was(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        let id = site.available_with(json!({ "size": 3 })).await;
        let path = paths(&operator, &id).await.remove(0);
        unmanage(&operator, &id).await;
        let member = site.member().await;
        assert_eq!((site.used(&member, "shares").await, site.used(&member, "gigabytes").await, drift(&site).await), (0, 0, 0));
        assert_eq!(site.allocated().await, 0);
        let again = manage(&operator, "", json!({ "export_path": path })).await;
        assert_eq!(operator.share_until(&again, "available").await["size"], 3);
        unmanage(&operator, &again).await;
    }

    async fn of_two_who_take_over_the_same_share_one_gets_it(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        let ask = || try_manage(&operator, "legacy", json!({}));
        let mut got = 0;
        for answer in futures::future::join_all([ask(), ask(), ask(), ask()]).await {
            // once the array has given it a path of its own, only the array knows the old one
            if answer.status == 409 {
                continue;
            }
            let id = text(&answer.expect(200)["share"]["id"]);
            let path = format!("/shares/{id}");
            operator.until(&path, |a| a.body()["share"]["status"] != "manage_starting").await;
            match operator.get(&path).await.expect(200)["share"]["status"].as_str() {
                Some("available") => got += 1,
                other => assert_eq!(other, Some("manage_error")),
            }
        }
        assert_eq!((got, site.used(&operator, "gigabytes").await), (1, 7));
    }

    async fn what_the_back_end_does_not_know_or_serve_ends_in_an_error_that_is_let_go_of(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        for members in [json!({ "export_path": "nowhere" }), json!({ "protocol": "invalid_protocol" })] {
            let id = text(&try_manage(&operator, "legacy", members).await.expect(200)["share"]["id"]);
            ends_in(&operator, &id, "manage_error").await;
            let said = site.messages(&id).await;
            assert!(said.len() == 1 && said[0].starts_with("manage: Share Driver could not take over the share."), "{said:?}");
            operator.delete(&format!("/shares/{id}")).await.expect(403);
            assert_eq!((site.used(&operator, "shares").await, site.used(&operator, "gigabytes").await), (1, 0));
            unmanage(&operator, &id).await;
            assert_eq!((site.used(&operator, "shares").await, drift(&site).await), (0, 0));
        }
        manage(&operator, "legacy", json!({})).await;
    }

    async fn a_lost_answer_is_asked_for_again_and_the_share_counts_once(db) {
        let site = start(&db, json!({ "faults": ["share-manage.adopt#1=lose-answer", "share-manage.release#1=lose-answer"] })).await;
        let operator = site.operator().await;
        let id = manage(&operator, "legacy", json!({})).await;
        assert_eq!((site.used(&operator, "gigabytes").await, site.allocated().await, drift(&site).await), (7, 7, 0));
        unmanage(&operator, &id).await;
        assert_eq!((site.used(&operator, "gigabytes").await, site.allocated().await, drift(&site).await), (0, 0, 0));
    }

    async fn no_limit_keeps_an_operator_from_what_is_there_already_and_then_it_counts(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        let limits = json!({ "quota_set": { "shares": 0, "gigabytes": 0 } });
        operator.put(&format!("/quota-sets/{}", operator.project_id), limits).await.expect(200);
        manage(&operator, "legacy", json!({})).await;
        crate::site::try_create(&operator, json!({})).await.expect(413);
    }

    async fn a_share_on_a_server_is_let_go_of_and_its_server_stays(db) {
        let site = served::site_with(&db, vec![servers("m", json!({}))], |c| c.share.delete_share_server_with_last_share = true).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let network = served::network(&member, &["blue"]).await;
        let share = served::available(&member, &network).await;
        let server = site.only_server(&network).await;
        let path = paths(&member, &share).await.remove(0);
        operator.at("2.48").post(&action(&share), json!({ "unmanage": null })).await.expect(403);
        unmanage(&operator, &share).await;
        let kept = operator.get(&one(&server)).await.expect(200)["share_server"].clone();
        assert_eq!((&kept["status"], &kept["is_auto_deletable"]), (&json!("active"), &json!(false)));
        let subnet = net::subnet_ids(&member, &network).await.remove(0);
        member.delete(&format!("{}/{subnet}", net::subnets(&network))).await.expect(409);
        member.delete(&net::path(&network)).await.expect(409);
        let asked = json!({ "export_path": path, "share_type": SERVED });
        for (bad, status) in [
            (json!({}), 400),
            (json!({ "share_server_id": uuid() }), 400),
            (json!({ "share_server_id": server, "share_type": "default" }), 400),
        ] {
            let mut members = asked.clone();
            members.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
            assert_eq!(try_manage(&operator, "", members.clone()).await.status, status, "{members}");
        }
        let mut members = asked.clone();
        members["share_server_id"] = json!(server);
        let again = manage(&operator, "", members).await;
        let shown = operator.get(&format!("/shares/{again}")).await.expect(200)["share"].clone();
        assert_eq!((&shown["share_server_id"], &shown["share_network_id"]), (&json!(server), &json!(network)));
        operator.delete(&format!("/shares/{again}")).await.expect(202);
        operator.until_gone(&format!("/shares/{again}")).await;
        // it goes when somebody says so
        assert_eq!(operator.get(&one(&server)).await.expect(200)["share_server"]["status"], "active");
        site.delete_server(&server).await;
        assert!(site.given().await.is_empty());
    }

    async fn what_must_not_be_let_go_of_is_not(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = site.available().await;
        let refused = async |why: &str| {
            let answer = operator.post(&action(&id), json!({ "unmanage": null })).await;
            assert_eq!(answer.status, 403, "{why}: {answer:?}");
        };
        for status in ["creating", "deleting", "migrating", "migrating_to"] {
            site.tell(&id, status).await;
            refused(status).await;
        }
        site.tell(&id, "available").await;
        let lock = member.post("/resource-locks", json!({ "resource_lock": { "resource_id": id, "resource_type": "share" } })).await;
        refused("a lock").await;
        member.delete(&format!("/resource-locks/{}", text(&lock.expect(200)["resource_lock"]["id"]))).await.expect(204);
        let taken = snapshot(&member, &id).await;
        refused("a snapshot").await;
        member.delete(&format!("/snapshots/{taken}")).await.expect(202);
        member.until_gone(&format!("/snapshots/{taken}")).await;
        member.post(&action(&id), json!({ "soft_delete": null })).await.expect(202);
        refused("the recycle bin").await;
        member.post(&action(&id), json!({ "restore": null })).await.expect(202);
        member.post(&action(&id), json!({ "unmanage": null })).await.expect(403);
        unmanage(&operator, &id).await;
    }

    async fn a_driver_that_does_not_let_go_leaves_an_error_that_is_tried_again(db) {
        let site = start(&db, json!({ "faults": ["share-manage.release#1=refuse:invalid"] })).await;
        let operator = site.operator().await;
        let id = site.available().await;
        operator.post(&action(&id), json!({ "unmanage": null })).await.expect(202);
        ends_in(&operator, &id, "unmanage_error").await;
        assert!(site.messages(&id).await[0].starts_with("unmanage: Share Driver could not let go of the share."));
        unmanage(&operator, &id).await;
    }

    async fn bad_requests_are_refused_and_count_nowhere(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        operator.post("/shares/manage", json!({})).await.expect(422);
        for key in ["service_host", "export_path", "protocol"] {
            for nothing in [json!(null), json!("")] {
                try_manage(&operator, "legacy", json!({ key: nothing })).await.expect(422);
            }
        }
        for (members, status) in [
            (json!({ "service_host": "stowage@m" }), 400),
            (json!({ "service_host": "stowage@m#" }), 400),
            (json!({ "service_host": "stowage@other#p1" }), 404),
            (json!({ "service_host": "stowage@m#other" }), 404),
            (json!({ "share_type": "none" }), 404),
            (json!({ "share_server_id": uuid() }), 400),
            (json!({ "driver_options": "text" }), 400),
            (json!({ "driver_options": { "k": "v".repeat(2001) } }), 400),
            (json!({ "name": "n".repeat(256) }), 400),
            (json!({ "is_public": "perhaps" }), 400),
            (json!({ "export_path": "p".repeat(2001) }), 400),
            (json!({ "export_path": 1 }), 400),
            (json!({ "export_path": "a\nb" }), 400),
            (json!({ "export_path": {} }), 400),
            (json!({ "export_path": { "path": "p".repeat(2001) } }), 400),
        ] {
            assert_eq!(try_manage(&operator, "legacy", members.clone()).await.status, status, "{members}");
        }
        try_manage(&site.member().await, "legacy", json!({})).await.expect(403);
        try_manage(&operator.at("2.6"), "legacy", json!({})).await.expect(404);
        operator.post("/os-share-manage", json!({ "share": {} })).await.expect(404);
        assert_eq!((site.used(&operator, "shares").await, operator.get("/shares").await.expect(200)["shares"].clone()), (0, json!([])));
    }

    async fn an_export_location_as_the_api_shows_it_says_where_a_share_is_exported(db) {
        let site = start(&db, json!({})).await;
        let operator = site.operator().await;
        manage(&operator, "", json!({ "export_path": { "path": path_of("legacy"), "preferred": true } })).await;
    }

    async fn the_older_paths_take_over_and_let_go_too(db) {
        let site = start(&db, json!({})).await;
        let old = site.operator().await.at("2.6");
        let share = json!({ "service_host": HOST, "export_path": path_of("other"), "protocol": "NFS", "driver_options": { "n": 1 } });
        let id = text(&old.post("/os-share-manage", json!({ "share": share })).await.expect(200)["share"]["id"]);
        old.share_until(&id, "available").await;
        old.post(&format!("/os-share-unmanage/{id}/unmanage"), json!(null)).await.expect(202);
        old.until_gone(&format!("/shares/{id}")).await;
    }
}
