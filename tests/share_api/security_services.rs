//! Security services, and the networks that use them.

use serde_json::{Value, json};
use support::{Client, Persona, both_databases};

use crate::{
    net::{action, network, service, service_body, site, use_service},
    site::{keys, text, uuid},
};

fn one(id: &str) -> String {
    format!("/security-services/{id}")
}

async fn listed(client: &Client, query: &str) -> Vec<String> {
    let body = client.get(&format!("/security-services?{query}")).await.expect(200);
    body["security_services"].as_array().unwrap().iter().map(|s| text(&s["id"])).collect()
}

both_databases! {
    async fn a_service_is_what_its_project_said(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let said = json!({
            "name": "n", "description": "d", "dns_ip": "1.1.1.1", "server": "s", "domain": "dom", "user": "u", "password": " blank ", "ou": "OU=x",
            "neutron_net_id": "is ignored", "created_at": "2002-02-02",
        });
        for kind in ["ldap", "kerberos", "active_directory"] {
            let made = member.post("/security-services", service_body(kind, said.clone())).await.expect(200)["security_service"].clone();
            for key in ["name", "description", "dns_ip", "server", "domain", "user", "password", "ou"] {
                assert_eq!(made[key], said[key], "{key}");
            }
            assert_eq!((&made["type"], &made["status"], &made["project_id"]), (&json!(kind), &json!("new"), &json!(member.project_id)));
            assert_eq!(member.get(&one(made["id"].as_str().unwrap())).await.expect(200)["security_service"], made);
        }
    }

    async fn fields_follow_the_version(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = service(&member, "ldap", json!({})).await;
        let first = [
            "created_at", "description", "dns_ip", "domain", "id", "name", "password", "project_id", "server", "status", "type", "updated_at", "user",
        ];
        for (version, more) in [("2.43", vec![]), ("2.44", vec!["ou"]), ("2.75", vec!["ou"]), ("2.76", vec!["default_ad_site", "ou"])] {
            let mut expected = [&first[..], &more].concat();
            expected.sort_unstable();
            let shown = member.at(version).get(&one(&id)).await.expect(200);
            assert_eq!(keys(&shown["security_service"]), expected, "{version}");
            let full = member.at(version).get("/security-services/detail").await.expect(200);
            let mut expected = [&expected[..], &["share_networks"]].concat();
            expected.sort_unstable();
            assert_eq!(keys(&full["security_services"][0]), expected, "{version}");
        }
        let short = member.get("/security-services").await.expect(200);
        assert_eq!(short, json!({ "security_services": [{ "id": id, "name": null, "type": "ldap", "status": "new" }] }));
    }

    async fn a_body_that_does_not_fit_is_refused(db) {
        let site = site(&db).await;
        let member = site.member().await;
        member.post("/security-services", json!({ "service": {} })).await.expect(422);
        for (kind, more) in [
            ("", json!({})),
            ("nis", json!({})),
            ("ldap", json!({ "name": "x".repeat(256) })),
            ("ldap", json!({ "dns_ip": "x".repeat(65) })),
            ("ldap", json!({ "password": 7 })),
            ("active_directory", json!({ "server": "s", "default_ad_site": "site" })),
        ] {
            let answer = member.post("/security-services", service_body(kind, more.clone())).await;
            assert_eq!(answer.status, 400, "{kind} {more} {answer:?}");
        }
        let site_of = service_body("active_directory", json!({ "default_ad_site": "site" }));
        member.at("2.75").post("/security-services", site_of.clone()).await.expect(400);
        member.at("2.76").post("/security-services", site_of).await.expect(200);
    }

    async fn a_refusal_does_not_repeat_a_password(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let secret = "hunter2".repeat(40);
        let refused = member.post("/security-services", service_body("ldap", json!({ "password": secret }))).await;
        refused.expect(400);
        assert!(!refused.text.contains("hunter2"), "{refused:?}");
    }

    async fn a_list_has_what_was_asked_for(db) {
        let site = site(&db).await;
        let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
        let blue = service(&member, "ldap", json!({ "name": "blue", "user": "u", "server": "s", "dns_ip": "1.1.1.1", "domain": "d" })).await;
        let red = service(&member, "kerberos", json!({ "name": "red" })).await;
        let other = service(&stranger, "ldap", json!({ "name": "other" })).await;
        assert_eq!(listed(&member, "name=blue&type=ldap&user=u&server=s&dns_ip=1.1.1.1&domain=d").await, [blue.clone()]);
        assert_eq!(listed(&member, "type=kerberos&status=active").await, [red.clone()]);
        assert_eq!(listed(&member, "color=red").await, [red.clone(), blue.clone()], "ignored");
        assert_eq!(listed(&member, "all_tenants=1").await, [red.clone(), blue.clone()], "ignored");
        assert_eq!(listed(&operator, "all_tenants=1").await, [other, red.clone(), blue.clone()]);
        assert_eq!(listed(&operator, "all_tenants=1&color=red").await, Vec::<String>::new());
        assert_eq!(listed(&member, "limit=1&offset=1").await, [blue.clone()]);
        let used = network(&member, json!({})).await;
        use_service(&member, &used, &blue).await.expect(200);
        assert_eq!(listed(&member, &format!("share_network_id={used}")).await, [blue.clone()]);
        member.get("/security-services?share_network_id=nothing").await.expect(404);
        let full = member.get("/security-services/detail?name=blue").await.expect(200);
        assert_eq!(full["security_services"][0]["share_networks"], json!([used]));
        member.delete(&one(&red)).await.expect(202);
        assert_eq!(listed(&member, &format!("marker={red}")).await, [blue], "a deleted one still serves as a marker");
    }

    async fn another_projects_service_is_not_found(db) {
        let site = site(&db).await;
        let (member, stranger) = (site.member().await, site.stranger().await);
        let id = service(&member, "ldap", json!({})).await;
        let theirs = network(&stranger, json!({})).await;
        for answer in [
            stranger.get(&one(&id)).await,
            stranger.put(&one(&id), json!({ "security_service": { "name": "mine" } })).await,
            stranger.delete(&one(&id)).await,
            use_service(&stranger, &theirs, &id).await,
            member.get(&one(&uuid())).await,
            member.get("/security-services/").await,
        ] {
            assert_eq!(answer.status, 404, "{answer:?}");
        }
        let reader = site.share(Persona::Reader).await.at("2.99");
        reader.get(&one(&id)).await.expect(200);
        reader.put(&one(&id), json!({ "security_service": {} })).await.expect(403);
        reader.delete(&one(&id)).await.expect(403);
    }

    async fn a_service_changes_until_a_server_was_told_of_it(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = service(&member, "ldap", json!({ "user": "old", "ou": "x" })).await;
        let put = |members: Value| { let (member, id) = (member.clone(), id.clone()); async move { member.put(&one(&id), json!({ "security_service": members })).await } };
        let changed = put(json!({ "user": "new", "type": "kerberos", "ou": null })).await.expect(200)["security_service"].clone();
        assert_eq!((&changed["user"], &changed["type"], &changed["ou"]), (&json!("new"), &json!("kerberos"), &Value::Null));
        put(json!({ "type": "nis" })).await.expect(400);
        member.put(&one(&id), json!({})).await.expect(422);
        let used = network(&member, json!({})).await;
        use_service(&member, &used, &id).await.expect(200);
        put(json!({ "user": "newer" })).await.expect(200);
        put(json!({ "type": "ldap" })).await.expect(409);
        site.server_on(&member, &used).await;
        put(json!({ "user": "newest" })).await.expect(403);
        assert_eq!(put(json!({ "name": "n", "description": "d" })).await.expect(200)["security_service"]["user"], "newer");
    }

    async fn a_network_has_one_service_of_a_kind(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let (one, two, other) = (service(&member, "ldap", json!({})).await, service(&member, "ldap", json!({})).await, service(&member, "kerberos", json!({})).await);
        assert_eq!(use_service(&member, &id, &one).await.expect(200)["share_network"]["id"], json!(id));
        use_service(&member, &id, &one).await.expect(409);
        use_service(&member, &id, &two).await.expect(409);
        use_service(&member, &id, &other).await.expect(200);
        use_service(&member, &id, "nothing").await.expect(404);
        use_service(&member, &id, "").await.expect(404);
        use_service(&member, "nothing", &two).await.expect(404);
        member.post(&action(&id), json!({ "add_security_service": {} })).await.expect(400);
    }

    async fn of_two_of_a_kind_at_once_one_is_used(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let mut services = Vec::new();
        for _ in 0..3 {
            services.push(service(&member, "ldap", json!({})).await);
        }
        let answers = futures::future::join_all(services.iter().map(|s| use_service(&member, &id, s))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|a| a.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409]);
    }

    async fn of_two_that_become_of_a_kind_at_once_one_is_used(db) {
        let site = site(&db).await;
        let member = site.member().await;
        // as many networks as a project may have
        for _ in 0..9 {
            let id = network(&member, json!({})).await;
            let (one_of, other) = (service(&member, "ldap", json!({})).await, service(&member, "kerberos", json!({})).await);
            use_service(&member, &id, &one_of).await.expect(200);
            let path = one(&other);
            let become_one = member.put(&path, json!({ "security_service": { "type": "ldap" } }));
            let (used, became) = futures::future::join(use_service(&member, &id, &other), become_one).await;
            let both = (used.status.as_u16(), became.status.as_u16());
            assert!([(200, 409), (409, 200)].contains(&both), "{both:?} {used:?} {became:?}");
        }
    }

    async fn a_server_is_not_built_over_a_service_that_is_just_changed(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let (id, ldap) = (network(&member, json!({})).await, service(&member, "ldap", json!({ "user": "old" })).await);
        use_service(&member, &id, &ldap).await.expect(200);
        let subnets = crate::net::subnet_ids(&member, &id).await;
        // whoever builds a server holds its network first
        let mut tx = site.app().store.begin().await.unwrap();
        tx.share_network_locked(&id).await.unwrap();
        let path = one(&ldap);
        let change = member.put(&path, json!({ "security_service": { "user": "new" } }));
        let build = async {
            // the change is under way by then, or waits
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            tx.share_server_insert(&crate::net::server(&member.project_id, &id, &subnets)).await.unwrap();
            tx.commit().await.unwrap();
        };
        let (changed, ()) = futures::future::join(change, build).await;
        assert_eq!(changed.status, 403, "{changed:?}");
    }

    async fn a_service_is_let_go_and_used_again(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let ldap = service(&member, "ldap", json!({})).await;
        let drop = |service: String| { let (member, id) = (member.clone(), id.clone()); async move {
            member.post(&action(&id), json!({ "remove_security_service": { "security_service_id": service } })).await
        } };
        drop(ldap.clone()).await.expect(400);
        drop("nothing".into()).await.expect(404);
        use_service(&member, &id, &ldap).await.expect(200);
        member.delete(&one(&ldap)).await.expect(403);
        drop(ldap.clone()).await.expect(200);
        use_service(&member, &id, &ldap).await.expect(200);
        site.server_on(&member, &id).await;
        drop(ldap).await.expect(403);
        member.post(&action("nothing"), json!({ "remove_security_service": { "security_service_id": "nothing" } })).await.expect(404);
    }

    async fn servers_that_cannot_follow_keep_a_networks_services_as_they_are(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let (ldap, kerberos, other) = (service(&member, "ldap", json!({})).await, service(&member, "kerberos", json!({})).await, service(&member, "ldap", json!({})).await);
        use_service(&member, &id, &ldap).await.expect(200);
        site.server_on(&member, &id).await;
        use_service(&member.at("2.62"), &id, &kerberos).await.expect(403);
        let refused = use_service(&member, &id, &kerberos).await.expect(400);
        assert!(refused["badRequest"]["message"].as_str().unwrap().contains("security_service_update_support"), "{refused}");
        let body = json!({ "update_security_service": { "current_service_id": ldap, "new_service_id": other } });
        member.post(&action(&id), body).await.expect(400);
        member.post(&action(&id), json!({ "add_security_service_check": { "security_service_id": kerberos } })).await.expect(400);
        assert_eq!(listed(&member, &format!("share_network_id={id}")).await, [ldap]);
    }

    async fn one_service_takes_the_place_of_another(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let (one, two, other) = (service(&member, "ldap", json!({})).await, service(&member, "ldap", json!({})).await, service(&member, "kerberos", json!({})).await);
        let swap = |current: &str, new: &str| {
            let (member, id) = (member.clone(), id.clone());
            let body = json!({ "update_security_service": { "current_service_id": current, "new_service_id": new } });
            async move { member.post(&action(&id), body).await }
        };
        swap(&one, &two).await.expect(409);
        use_service(&member, &id, &one).await.expect(200);
        swap(&one, &other).await.expect(409);
        swap(&one, "nothing").await.expect(400);
        member.post(&action(&id), json!({ "update_security_service": { "current_service_id": one } })).await.expect(400);
        assert_eq!(swap(&one, &two).await.expect(202)["share_network"]["id"], json!(id));
        assert_eq!(listed(&member, &format!("share_network_id={id}")).await, [two]);
    }

    async fn whether_a_service_could_be_used_can_be_asked(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let (one, two) = (service(&member, "ldap", json!({})).await, service(&member, "ldap", json!({})).await);
        let add = json!({ "add_security_service_check": { "security_service_id": one, "reset_operation": true } });
        let asked = member.post(&action(&id), add.clone()).await.expect(202);
        let operation = json!({ "operation": "add_security_service", "current_security_service": null, "new_security_service": one });
        assert_eq!(asked, json!({ "compatible": true, "requested_operation": operation }));
        assert_eq!(operator.post(&action(&id), add.clone()).await.expect(202)["hosts_check_result"], json!({}));
        member.post(&action(&id), json!({ "add_security_service_check": { "security_service_id": "nothing" } })).await.expect(400);
        use_service(&member, &id, &one).await.expect(200);
        member.post(&action(&id), add.clone()).await.expect(409);
        let swap = json!({ "update_security_service_check": { "current_service_id": one, "new_service_id": two } });
        let asked = member.post(&action(&id), swap.clone()).await.expect(202);
        let operation = json!({ "operation": "update_security_service", "current_security_service": one, "new_security_service": two });
        assert_eq!(asked, json!({ "compatible": true, "requested_operation": operation }));
        for body in [add, swap] {
            member.at("2.62").post(&action(&id), body).await.expect(404);
        }
        assert_eq!(listed(&member, &format!("share_network_id={id}")).await, [one], "asking changes nothing");
    }
}
