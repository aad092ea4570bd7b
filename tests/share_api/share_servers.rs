//! Share servers, as operators see them.

use serde_json::{Value, json};
use stowage::{clock, domain::share_server::ServerStatus};
use support::{Client, both_databases};

use crate::{
    net::{network, path, server, site, subnet, subnet_ids},
    site::{keys, text, uuid},
};

fn one(id: &str) -> String {
    format!("/share-servers/{id}")
}

async fn listed(client: &Client, query: &str) -> Vec<String> {
    let body = client.get(&format!("/share-servers?{query}")).await.expect(200);
    body["share_servers"].as_array().unwrap().iter().map(|s| text(&s["id"])).collect()
}

both_databases! {
    async fn a_server_shows_where_it_is_and_what_it_can(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({ "name": "n" })).await;
        subnet(&member, &id, json!({})).await;
        let mut subnets = subnet_ids(&member, &id).await;
        let made = site.put_server(&server(&member.project_id, &id, &subnets)).await;
        subnets.sort_unstable();
        let mut tx = site.app().store.begin().await.unwrap();
        assert!(tx.share_server_details(&made, r#"{"ip": "10.0.0.5", "name": "vserver"}"#, clock::now()).await.unwrap());
        tx.commit().await.unwrap();
        let shown = operator.get(&one(&made)).await.expect(200)["share_server"].clone();
        assert_eq!((&shown["host"], &shown["status"], &shown["project_id"]), (&json!("stowage@m"), &json!("active"), &json!(member.project_id)));
        assert_eq!((&shown["share_network_id"], &shown["share_network_name"]), (&json!(id), &json!("n")));
        assert_eq!((&shown["share_network_subnet_ids"], &shown["identifier"]), (&json!(subnets), &json!(made)));
        assert_eq!((&shown["is_auto_deletable"], &shown["network_allocation_update_support"]), (&json!(true), &json!(false)));
        let details = json!({ "ip": "10.0.0.5", "name": "vserver" });
        assert_eq!(shown["backend_details"], details);
        assert_eq!(operator.get(&format!("{}/details", one(&made))).await.expect(200), json!({ "details": details }));
        let nameless = network(&member, json!({})).await;
        let other = site.server_on(&member, &nameless).await;
        let shown = operator.get(&one(&other)).await.expect(200)["share_server"].clone();
        assert_eq!((&shown["share_network_name"], &shown["backend_details"]), (&json!(nameless), &json!({})));
    }

    async fn fields_follow_the_version(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let first = subnet_ids(&member, &id).await.remove(0);
        let made = site.server_on(&member, &id).await;
        let mut known = vec!["host", "id", "project_id", "share_network_id", "share_network_name", "status", "updated_at"];
        for (version, more, gone) in [
            ("2.0", vec![], None),
            ("2.49", vec!["identifier", "is_auto_deletable"], None),
            ("2.51", vec!["share_network_subnet_id"], None),
            ("2.57", vec!["source_share_server_id", "task_state"], None),
            ("2.63", vec!["security_service_update_support"], None),
            ("2.70", vec!["network_allocation_update_support", "share_network_subnet_ids"], Some("share_network_subnet_id")),
            ("2.90", vec!["encryption_key_ref"], None),
        ] {
            known.extend(more);
            known.retain(|k| Some(*k) != gone);
            known.sort_unstable();
            let operator = operator.at(version);
            assert_eq!(keys(&operator.get("/share-servers").await.expect(200)["share_servers"][0]), known, "{version}");
            let mut in_full = [&known[..], &["backend_details", "created_at"]].concat();
            in_full.sort_unstable();
            assert_eq!(keys(&operator.get(&one(&made)).await.expect(200)["share_server"]), in_full, "{version}");
        }
        assert_eq!(operator.at("2.69").get(&one(&made)).await.expect(200)["share_server"]["share_network_subnet_id"], json!(first));
    }

    async fn a_list_has_what_was_asked_for(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let (blue, red) = (network(&member, json!({ "name": "blue" })).await, network(&member, json!({})).await);
        let of_blue = subnet_ids(&member, &blue).await.remove(0);
        let first = site.server_on(&member, &blue).await;
        let mut other = server("another", &red, &[]);
        other.backend = "stowage@other".into();
        other.status = ServerStatus::Error;
        other.is_auto_deletable = false;
        other.network_allocation_update_support = true;
        let second = site.put_server(&other).await;
        assert_eq!(listed(&operator, "").await, [second.clone(), first.clone()], "the newest first");
        for query in [
            "host=stowage@m".to_owned(),
            "status=active".into(),
            "share_network=blue".into(),
            format!("share_network={blue}"),
            format!("share_network_id={blue}"),
            format!("share_network_subnet_id={of_blue}"),
            format!("project_id={}", member.project_id),
            format!("identifier={first}"),
            format!("id={first}"),
            "is_auto_deletable=True".into(),
            "network_allocation_update_support=false".into(),
            "deleted=False&status=active".into(),
            "limit=1&offset=1".into(),
        ] {
            assert_eq!(listed(&operator, &query).await, [first.clone()], "{query}");
        }
        for query in ["color=blue", "host=123", "status=fine", "share_network=green", "project_id=nobody", "share_network_subnet_id=x", "status=active&color=blue"] {
            assert_eq!(listed(&operator, query).await, Vec::<String>::new(), "{query}");
        }
    }

    async fn servers_are_the_operators(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let made = site.server_on(&member, &id).await;
        for server in [made, "nothing".to_owned()] {
            for answer in [
                member.get(&one(&server)).await,
                member.get(&format!("{}/details", one(&server))).await,
                member.delete(&one(&server)).await,
                member.post(&format!("{}/action", one(&server)), json!({ "reset_status": { "status": "error" } })).await,
                member.get("/share-servers").await,
            ] {
                assert_eq!(answer.status, 403, "{answer:?}");
            }
        }
        for answer in [
            operator.get(&one("nothing")).await,
            operator.get(&format!("{}/details", one("nothing"))).await,
            operator.delete(&one("nothing")).await,
            operator.post(&format!("{}/action", one(&uuid())), json!({ "reset_status": { "status": "error" } })).await,
        ] {
            assert_eq!(answer.status, 404, "{answer:?}");
        }
    }

    async fn an_operator_says_what_a_server_is(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let made = site.server_on(&member, &id).await;
        let tell = |status: Value| { let (operator, action) = (operator.clone(), format!("{}/action", one(&made))); async move {
            operator.post(&action, json!({ "reset_status": { "status": status } })).await.status.as_u16()
        } };
        for status in ["creating", "deleting", "error", "manage_error", "manage_starting", "unmanage_error", "unmanage_starting", "network_change", "active"] {
            assert_eq!(tell(json!(status)).await, 202, "{status}");
            assert_eq!(operator.get(&one(&made)).await.expect(200)["share_server"]["status"], status);
        }
        assert_eq!((tell(json!("fine")).await, tell(Value::Null).await), (400, 400));
        operator.at("2.48").post(&format!("{}/action", one(&made)), json!({ "reset_status": { "status": "error" } })).await.expect(404);
    }

    // `openstack share server set` says that there is none with every status it sets
    async fn an_operator_says_how_a_servers_migration_ended(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let made = site.server_on(&member, &id).await;
        let action = format!("{}/action", one(&made));
        operator.post(&action, json!({ "reset_task_state": { "task_state": null } })).await.expect(404);
        let experimental = |client: &Client| client.with_header("X-OpenStack-Manila-API-Experimental", "True");
        let (member, operator) = (experimental(&member), experimental(&operator));
        let none = json!({ "reset_task_state": { "task_state": null } });
        operator.post(&action, none.clone()).await.expect(202);
        for task in [json!("migration_error"), json!("migration_success"), Value::Null] {
            operator.post(&action, json!({ "reset_task_state": { "task_state": task } })).await.expect(202);
            assert_eq!(operator.get(&one(&made)).await.expect(200)["share_server"]["task_state"], task);
        }
        operator.post(&action, json!({ "reset_task_state": { "task_state": "data_copying_error" } })).await.expect(400);
        operator.post(&action, json!({ "reset_task_state": {} })).await.expect(400);
        member.post(&action, none.clone()).await.expect(403);
        operator.post(&format!("{}/action", one(&uuid())), none.clone()).await.expect(404);
        operator.at("2.56").post(&action, none).await.expect(404);
    }

    async fn a_server_in_use_or_in_work_stays(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let made = site.server_on(&member, &id).await;
        site.put_share(&member, &id, Some(&made)).await;
        operator.delete(&one(&made)).await.expect(409);
        for status in ["creating", "deleting", "network_change", "manage_error"] {
            operator.post(&format!("{}/action", one(&made)), json!({ "reset_status": { "status": status } })).await.expect(202);
            let refused = operator.delete(&one(&made)).await.expect(403);
            assert!(refused["forbidden"]["message"].as_str().unwrap().contains(status), "{refused}");
        }
        assert_eq!(operator.get(&one(&made)).await.expect(200)["share_server"]["status"], "manage_error");
        member.delete(&path(&id)).await.expect(409);
    }
}
