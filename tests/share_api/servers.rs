//! Share servers as drivers build them: which shares come to which, over which subnets, with which addresses.

use futures::future::join_all;
use serde_json::json;
use support::both_databases;

use crate::{
    net::{self, service, use_service},
    served::{SERVED, available, create, create_with, failed, named, network, one, paths, servers, site, site_with},
    site::{action, allow, text},
};

both_databases! {
    async fn a_share_lives_on_a_server_of_its_network(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        let shown = operator.get(&one(&server)).await.expect(200)["share_server"].clone();
        assert_eq!((&shown["status"], &shown["host"], &shown["project_id"]), (&json!("active"), &json!("stowage@m"), &json!(member.project_id)));
        assert_eq!(shown["identifier"], format!("memory-{server}"), "the driver's own name for it");
        let addresses = site.addresses(&server).await;
        assert_eq!(addresses.len(), 1);
        assert!(addresses[0].ip_address.starts_with("10.1.0."), "{addresses:?}");
        assert_eq!(shown["backend_details"]["address.0"], addresses[0].ip_address);
        assert!(paths(&member, &share).await[0].starts_with(&format!("{}:/", addresses[0].ip_address)));
        assert_eq!(operator.get(&format!("/shares/{share}")).await.expect(200)["share"]["share_server_id"], json!(server));
        let instances = operator.get(&format!("/shares/{share}/instances")).await.expect(200);
        assert_eq!(instances["share_instances"][0]["share_server_id"], json!(server));
        assert!(member.get(&format!("/shares/{share}")).await.expect(200)["share"].get("share_server_id").is_none(), "users do not see servers");
        let of_server = operator.get(&format!("/shares?all_tenants=1&share_server_id={server}")).await.expect(200);
        assert_eq!(of_server["shares"][0]["id"], json!(share));
        let subnet = member.get(&net::subnets(&id)).await.expect(200)["share_network_subnets"][0].clone();
        assert_eq!((&subnet["cidr"], &subnet["ip_version"]), (&json!("10.1.0.0/24"), &json!(4)), "what the subnet is, is known now");
    }

    async fn all_that_is_done_with_a_share_is_done_on_its_server(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let before = paths(&member, &share).await;
        member.post(&action(&share), json!({ "extend": { "new_size": 3 } })).await.expect(202);
        assert_eq!(member.share_until(&share, "available").await["size"], 3);
        member.post(&action(&share), json!({ "shrink": { "new_size": 2 } })).await.expect(202);
        assert_eq!(member.share_until(&share, "available").await["size"], 2);
        let rule = allow(&member, &share, "10.1.0.200").await;
        member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
        assert_eq!(paths(&member, &share).await, before);
        member.delete(&format!("/shares/{share}")).await.expect(202);
        member.until_gone(&format!("/shares/{share}")).await;
        assert_eq!(site.only_server(&id).await.len(), 36, "the server stays for a while");
    }

    async fn shares_of_one_network_share_a_server(db) {
        let site = site(&db, json!({ "faults": ["share-servers.setup=delay:100"] })).await;
        let member = site.member().await;
        let (first, second) = (network(&member, &["blue"]).await, network(&member, &["blue"]).await);
        let shares = join_all((0..6).map(|n| create(&member, if n % 3 == 0 { &second } else { &first }))).await;
        for share in &shares {
            member.share_until(share, "available").await;
        }
        assert_ne!(site.only_server(&first).await, site.only_server(&second).await, "another network, another server");
        available(&member, &first).await;
        site.only_server(&first).await;
        assert_eq!(site.given().await.len(), 2);
    }

    async fn each_back_end_has_its_own_server(db) {
        let site = site_with(&db, vec![servers("m", json!({})), servers("n", json!({}))], |_| {}).await;
        let operator = site.operator().await;
        let id = network(&operator, &["blue"]).await;
        for pool in ["stowage@m#p1", "stowage@n#p1", "stowage@m#p1"] {
            let share = create_with(&operator, &id, json!({ "scheduler_hints": { "only_host": pool } })).await;
            operator.share_until(&share, "available").await;
        }
        let mut hosts: Vec<String> = site.servers(&id).await.iter().map(|s| text(&s["host"])).collect();
        hosts.sort_unstable();
        assert_eq!(hosts, ["stowage@m", "stowage@n"]);
    }

    async fn a6_set_up_gets_all_subnets_of_the_zone_with_as_many_addresses_as_the_driver_wants(db) {
        let site = site(&db, json!({ "multiple_subnets": true, "addresses_per_subnet": 2, "admin_addresses": 1 })).await;
        let member = site.member().await;
        let id = network(&member, &["blue", "green"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        let addresses = site.addresses(&server).await;
        let of = |key: &str| addresses.iter().filter(|a| a.network_key == key).map(|a| a.ip_address.clone()).collect::<Vec<_>>();
        assert_eq!((of("blue").len(), of("green").len(), of("red").len()), (2, 2, 1), "{addresses:?}");
        assert!(addresses.iter().all(|a| a.subnet_id.is_none() == (a.network_key == "red")), "the driver's own address is in the operator's network");
        let details = site.operator().await.get(&format!("{}/details", one(&server))).await.expect(200)["details"].clone();
        let told: Vec<String> = (0..4).map(|n| text(&details[format!("address.{n}")])).collect();
        assert_eq!(told, [of("blue"), of("green")].concat(), "the subnets in their order");
        assert_eq!((&details["admin_address.0"], details.get("admin_address.1")), (&json!(of("red")[0]), None));
        let paths = paths(&member, &share).await;
        assert!(told.iter().all(|address| paths.iter().any(|p| p.contains(address.as_str()))), "IPv4 and IPv6 side by side: {paths:?}");
        let shown = member.get(&net::path(&id)).await.expect(200)["share_network"].clone();
        assert_eq!(shown["share_network_subnets"].as_array().unwrap().len(), 2);
        assert_eq!(site.servers(&id).await[0]["share_network_subnet_ids"].as_array().unwrap().len(), 2);
    }

    async fn a5_several_subnets_need_a_back_end_that_can_and_the_message_says_so(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let id = network(&member, &["blue", "red"]).await;
        let share = create(&member, &id).await;
        failed(&member, &share).await;
        let messages = site.messages(&share).await;
        assert!(messages[0].starts_with("allocate host: No storage could be allocated"), "{messages:?}");
        assert!(messages[0].contains("share_server_multiple_subnet_support"), "{messages:?}");
        assert!(site.servers(&id).await.is_empty() && site.given().await.is_empty());
    }

    async fn a5_only_the_subnets_of_the_zone_count(db) {
        let mut far = servers("far", json!({}));
        far.availability_zone = "far".into();
        let site = site_with(&db, vec![servers("m", json!({})), far], |_| {}).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        for subnet in ["red", "green"] {
            let mut of_zone = named(subnet);
            of_zone["availability_zone"] = json!("far");
            net::subnet(&member, &id, of_zone).await;
        }
        let near = create_with(&member, &id, json!({ "availability_zone": "nova" })).await;
        member.share_until(&near, "available").await;
        let away = create_with(&member, &id, json!({ "availability_zone": "far" })).await;
        failed(&member, &away).await;
        assert!(site.messages(&away).await[0].contains("share_server_multiple_subnet_support"));
        assert_eq!(site.servers(&id).await.len(), 1);
    }

    async fn a_zone_is_served_by_its_own_subnets_or_by_the_default_ones(db) {
        let mut far = servers("far", json!({}));
        far.availability_zone = "far".into();
        let site = site_with(&db, vec![servers("m", json!({})), far], |_| {}).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let mut of_zone = named("red");
        of_zone["availability_zone"] = json!("far");
        net::subnet(&member, &id, of_zone).await;
        for (zone, address) in [("far", "10.2.0."), ("nova", "10.1.0.")] {
            let share = create_with(&member, &id, json!({ "availability_zone": zone })).await;
            member.share_until(&share, "available").await;
            assert!(paths(&member, &share).await[0].starts_with(address), "{zone}");
        }
        assert_eq!(site.servers(&id).await.len(), 2);
        // a network that reaches one zone only
        let only_far = net::network(&member, json!({ "neutron_net_id": "net", "neutron_subnet_id": "red", "availability_zone": "far" })).await;
        for _ in 0..3 {
            let share = available(&member, &only_far).await;
            assert!(paths(&member, &share).await[0].starts_with("10.2.0."));
        }
    }

    async fn while_its_server_is_built_a_shares_rules_are_refused_with_the_shares_own_state(db) {
        let site = site(&db, json!({ "faults": ["share-servers.setup=delay:3000"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = create(&member, &id).await;
        operator.until(&format!("/shares/{share}"), |a| a.body()["share"]["share_server_id"].is_string()).await;
        let allowed = json!({ "allow_access": { "access_type": "ip", "access_to": "10.1.0.200" } });
        let denied = json!({ "deny_access": { "access_id": crate::site::uuid() } });
        for body in [&allowed, &denied] {
            let said = member.post(&action(&share), body.clone()).await.fault(400);
            assert!(said.contains("creating") && !said.contains("share server"), "{said}");
        }
        member.share_until(&share, "available").await;
        member.post(&action(&share), allowed).await.expect(200);
    }

    async fn set_up_that_takes_its_time_is_asked_after(db) {
        let site = site(&db, json!({ "faults": ["share-servers.setup=pending:3"] })).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        assert_eq!(paths(&member, &share).await.len(), 1);
    }

    async fn a_server_is_told_of_the_security_services(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let ldap = service(&member, "ldap", json!({ "domain": "example.org", "password": "secret" })).await;
        use_service(&member, &id, &ldap).await.expect(200);
        available(&member, &id).await;
        let server = &site.servers(&id).await[0];
        assert_eq!(server["backend_details"]["security_service.0"], format!("ldap {ldap} example.org"));
    }

    async fn without_a_network_there_is_no_server_and_with_one_there_must_be(db) {
        let site = site_with(&db, vec![servers("m", json!({ "driver_handles_share_servers": "either" }))], |_| {}).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let plain = crate::site::create(&member, json!({})).await;
        member.share_until(&plain, "available").await;
        assert!(paths(&member, &plain).await[0].starts_with("192.0.2."), "on the array's own address");
        let served = available(&member, &id).await;
        assert!(paths(&member, &served).await[0].starts_with("10.1.0."));
        crate::site::try_create(&member, json!({ "share_type": SERVED })).await.expect(400);
        crate::site::try_create(&member, json!({ "share_network_id": id })).await.expect(400);
    }
}
