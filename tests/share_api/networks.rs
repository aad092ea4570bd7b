//! Share networks.

use serde_json::{Value, json};
use support::{Client, Persona, both_databases};

use crate::{
    net::{action, network, path, server, service, site, site_with, subnet, subnet_ids, use_service},
    site::{keys, text, try_create, uuid},
};

async fn show(client: &Client, id: &str) -> Value {
    client.get(&path(id)).await.expect(200)["share_network"].clone()
}

async fn listed(client: &Client, query: &str) -> Vec<String> {
    let body = client.get(&format!("/share-networks/detail?{query}")).await.expect(200);
    body["share_networks"].as_array().unwrap().iter().map(|n| text(&n["id"])).collect()
}

async fn tell(client: &Client, id: &str, status: &str) -> u16 {
    client.post(&action(id), json!({ "reset_status": { "status": status } })).await.status.as_u16()
}

both_databases! {
    async fn a_network_is_made_with_its_first_subnet(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let body = json!({ "share_network": { "name": "n", "description": "d", "neutron_net_id": "net", "neutron_subnet_id": "sub" } });
        let made = member.post("/share-networks", body).await.expect(200)["share_network"].clone();
        assert_eq!((&made["name"], &made["description"], &made["status"]), (&json!("n"), &json!("d"), &json!("active")));
        assert_eq!((&made["project_id"], &made["updated_at"]), (&json!(member.project_id), &Value::Null));
        let first = &made["share_network_subnets"][0];
        assert_eq!((&first["neutron_net_id"], &first["neutron_subnet_id"], &first["availability_zone"]), (&json!("net"), &json!("sub"), &Value::Null));
        assert_eq!(first["metadata"], json!({}));
        assert_eq!(show(&member, made["id"].as_str().unwrap()).await, made);
        let zoned = network(&member, json!({ "availability_zone": "nova" })).await;
        assert_eq!(show(&member, &zoned).await["share_network_subnets"][0]["availability_zone"], "nova");
    }

    async fn fields_follow_the_version(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({ "neutron_net_id": "net", "neutron_subnet_id": "sub" })).await;
        let common = ["created_at", "description", "id", "name", "project_id", "updated_at"];
        let of_subnet = ["cidr", "ip_version", "network_type", "neutron_net_id", "neutron_subnet_id", "segmentation_id"];
        for (version, more) in [
            ("2.0", [&of_subnet[..], &["nova_net_id"]].concat()),
            ("2.18", [&of_subnet[..], &["gateway", "nova_net_id"]].concat()),
            ("2.20", [&of_subnet[..], &["gateway", "mtu", "nova_net_id"]].concat()),
            ("2.26", [&of_subnet[..], &["gateway", "mtu"]].concat()),
            ("2.51", vec!["share_network_subnets"]),
            ("2.63", vec!["security_service_update_support", "share_network_subnets", "status"]),
            ("2.70", vec!["network_allocation_update_support", "security_service_update_support", "share_network_subnets", "status"]),
        ] {
            let shown = show(&member.at(version), &id).await;
            let mut expected = [&common[..], &more].concat();
            expected.sort_unstable();
            assert_eq!(keys(&shown), expected, "{version}");
        }
        assert_eq!(show(&member.at("2.50"), &id).await["neutron_net_id"], "net");
        let mut of_subnet = [&of_subnet[..], &["availability_zone", "created_at", "gateway", "id", "mtu", "updated_at"]].concat();
        of_subnet.sort_unstable();
        assert_eq!(keys(&show(&member.at("2.77"), &id).await["share_network_subnets"][0]), of_subnet);
        assert!(show(&member.at("2.78"), &id).await["share_network_subnets"][0].get("metadata").is_some());
    }

    async fn where_a_network_is_on_the_wire_is_the_operators_to_know(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({ "network_type": "vlan", "segmentation_id": 1000, "cidr": "10.0.0.0/24", "ip_version": 4 })).await;
        let (seen, known) = (show(&member, &id).await, show(&operator, &id).await);
        let (seen, known) = (&seen["share_network_subnets"][0], &known["share_network_subnets"][0]);
        assert_eq!((&seen["network_type"], &seen["segmentation_id"], &seen["cidr"]), (&Value::Null, &Value::Null, &json!("10.0.0.0/24")));
        assert_eq!((&known["network_type"], &known["segmentation_id"], &known["ip_version"]), (&json!("vlan"), &json!(1000), &json!(4)));
        assert_eq!(show(&member.at("2.50"), &id).await["segmentation_id"], Value::Null);
        assert_eq!(show(&operator.at("2.50"), &id).await["segmentation_id"], 1000);
        // what is not seen is not found out by asking
        assert_eq!(listed(&member, "segmentation_id=7").await, [id.clone()]);
        assert_eq!(listed(&operator, "all_tenants=1&segmentation_id=7").await, Vec::<String>::new());
        assert_eq!(listed(&operator, "all_tenants=1&segmentation_id=1000&network_type=vlan").await, [id]);
    }

    async fn a_body_that_does_not_fit_is_refused(db) {
        let site = site(&db).await;
        let member = site.member().await;
        member.post("/share-networks", json!({ "network": {} })).await.expect(422);
        for bad in [
            json!({ "neutron_net_id": "n" }),
            json!({ "neutron_subnet_id": "s" }),
            json!({ "nova_net_id": "n" }),
            json!({ "availability_zone": "nowhere" }),
            json!({ "name": "x".repeat(256) }),
            json!({ "created_at": "yesterday" }),
        ] {
            let answer = member.post("/share-networks", json!({ "share_network": bad })).await;
            assert_eq!(answer.status, 400, "{bad} {answer:?}");
        }
        assert_eq!(site.used(&member, "share_networks").await, 0);
        // zones of subnets were not known before 2.51
        member.at("2.50").post("/share-networks", json!({ "share_network": { "availability_zone": "nowhere" } })).await.expect(200);
    }

    async fn a_list_has_what_was_asked_for(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let blue = network(&member, json!({ "name": "blue_net", "description": "sky", "created_at": "2002-02-02", "neutron_net_id": "1111", "neutron_subnet_id": "2222",
            "cidr": "10.0.0.0/24", "ip_version": 4 })).await;
        let red = network(&member, json!({ "name": "red", "created_at": "2003-03-03T10:00:00" })).await;
        let only = |query: &'static str| { let member = member.clone(); async move { listed(&member, query).await } };
        for query in [
            "name=blue_net", "name~=e_n", "description~=k", "neutron_net_id=1111", "neutron_subnet_id=2222", "neutron_net_id~=11", "cidr=10.0.0.0/24", "ip_version=4",
            "created_since=2001-01-01&created_before=2002-10-10", "name=blue_net&ip_version=4",
        ] {
            assert_eq!(only(query).await, [blue.clone()], "{query}");
        }
        for query in ["name=b%25", "name~=%25", "name~=BLUE", "neutron_net_id~=3", "ip_version=6", "color=blue", "created_since=2004-01-01", "name=red&ip_version=4"] {
            assert_eq!(only(query).await, Vec::<String>::new(), "{query}");
        }
        assert_eq!(only("").await, [red.clone(), blue.clone()], "the newest first");
        assert_eq!(only("limit=1&offset=1").await, [blue.clone()]);
        assert_eq!(only("sort_key=name&sort_dir=asc").await, [blue.clone(), red.clone()]);
        assert_eq!(listed(&member.at("2.35"), "name~=blue").await, Vec::<String>::new());
        for bad in ["created_since=2014-10-23T08:31:58.000000", "created_before=x", "ip_version=four"] {
            member.get(&format!("/share-networks/detail?{bad}")).await.expect(400);
        }
        let short = member.get("/share-networks?name=red").await.expect(200);
        assert_eq!(short, json!({ "share_networks": [{ "id": red, "name": "red" }] }));
    }

    async fn a_deleted_network_still_serves_as_a_marker(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let mut ids = Vec::new();
        for day in ["2001-01-01", "2001-01-02", "2001-01-03"] {
            ids.push(network(&member, json!({ "created_at": day })).await);
        }
        member.delete(&path(&ids[1])).await.expect(202);
        assert_eq!(listed(&member, &format!("marker={}", ids[1])).await, [ids[0].clone()]);
        member.get(&format!("/share-networks?marker={}", uuid())).await.expect(404);
    }

    // `security_service` is what `openstack share network list` sends
    async fn those_of_a_security_service_are_found_by_its_id_and_name(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let (one, _two) = (network(&member, json!({})).await, network(&member, json!({})).await);
        let people = service(&member, "ldap", json!({ "name": "people" })).await;
        use_service(&member, &one, &people).await.expect(200);
        for query in [format!("security_service_id={people}"), format!("security_service={people}"), "security_service=people".to_owned()] {
            assert_eq!(listed(&member, &query).await, [one.clone()], "{query}");
        }
        assert_eq!(listed(&member, "security_service=others").await, Vec::<String>::new());
    }

    async fn every_projects_networks_are_the_operators_to_list(db) {
        let site = site(&db).await;
        let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
        let (one, two) = (network(&member, json!({})).await, network(&stranger, json!({})).await);
        assert_eq!(listed(&operator, "").await, Vec::<String>::new());
        assert_eq!(listed(&operator, "all_tenants=1").await, [two.clone(), one.clone()]);
        assert_eq!(listed(&operator, &format!("project_id={}", stranger.project_id)).await, [two.clone()]);
        for query in ["all_tenants=1".to_owned(), format!("project_id={}", stranger.project_id)] {
            assert_eq!(listed(&member, &query).await, [one.clone()], "{query}");
        }
    }

    async fn another_projects_network_is_not_found(db) {
        let site = site(&db).await;
        let (member, stranger) = (site.member().await, site.stranger().await);
        let id = network(&member, json!({})).await;
        for answer in [
            stranger.get(&path(&id)).await,
            stranger.put(&path(&id), json!({ "share_network": { "name": "mine" } })).await,
            stranger.delete(&path(&id)).await,
            stranger.get(&format!("{}/subnets", path(&id))).await,
            stranger.post(&action(&id), json!({ "add_security_service": { "security_service_id": uuid() } })).await,
            member.get(&path(&uuid())).await,
            member.get("/share-networks/").await,
        ] {
            assert_eq!(answer.status, 404, "{answer:?}");
        }
        let reader = site.share(Persona::Reader).await.at("2.99");
        show(&reader, &id).await;
        reader.put(&path(&id), json!({ "share_network": { "name": "mine" } })).await.expect(403);
        reader.delete(&path(&id)).await.expect(403);
        reader.post("/share-networks", json!({ "share_network": {} })).await.expect(403);
    }

    async fn a_network_without_servers_may_stand_for_another_subnet(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let put = |members: Value| { let (member, id) = (member.clone(), id.clone()); async move { member.put(&path(&id), json!({ "share_network": members })).await } };
        put(json!({ "neutron_net_id": "a" })).await.expect(400);
        let changed = put(json!({ "name": "n", "neutron_net_id": "a", "neutron_subnet_id": "b" })).await.expect(200)["share_network"].clone();
        assert_eq!((&changed["name"], &changed["share_network_subnets"][0]["neutron_net_id"]), (&json!("n"), &json!("a")));
        // one of them alone once there are both
        assert_eq!(put(json!({ "neutron_net_id": "c" })).await.expect(200)["share_network"]["share_network_subnets"][0]["neutron_subnet_id"], "b");
        subnet(&member, &id, json!({})).await;
        put(json!({ "neutron_net_id": "d" })).await.expect(400);
        put(json!({ "nova_net_id": "d" })).await.expect(400);
        let zoned = network(&member, json!({ "availability_zone": "nova" })).await;
        member.put(&path(&zoned), json!({ "share_network": { "neutron_net_id": "a", "neutron_subnet_id": "b" } })).await.expect(400);
        member.put(&path(&zoned), json!({ "network": {} })).await.expect(422);
    }

    async fn once_it_has_servers_only_what_people_read_changes(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        site.server_on(&member, &id).await;
        member.put(&path(&id), json!({ "share_network": { "name": "x", "neutron_net_id": "a", "neutron_subnet_id": "b" } })).await.expect(403);
        let changed = member.put(&path(&id), json!({ "share_network": { "name": "n", "description": null } })).await.expect(200);
        assert_eq!((&changed["share_network"]["name"], &changed["share_network"]["description"]), (&json!("n"), &Value::Null));
    }

    async fn a3_what_servers_can_is_what_all_of_them_can_and_without_one_anything(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let subnets = subnet_ids(&member, &id).await;
        let support = || async {
            let shown = show(&member, &id).await;
            (shown["network_allocation_update_support"].as_bool().unwrap(), shown["security_service_update_support"].as_bool().unwrap())
        };
        assert_eq!(support().await, (true, true), "no server stands in the way");
        let mut one = server(&member.project_id, &id, &subnets);
        one.network_allocation_update_support = true;
        site.put_server(&one).await;
        assert_eq!(support().await, (true, false));
        site.put_server(&server(&member.project_id, &id, &subnets)).await;
        assert_eq!(support().await, (false, false));
        assert_eq!(listed(&member, "").await, [id.clone()], "lists know it, too");
    }

    async fn a_network_with_shares_or_several_subnets_stays(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let second = subnet(&member, &id, json!({ "availability_zone": "nova" })).await;
        member.delete(&path(&id)).await.expect(409);
        member.delete(&format!("{}/subnets/{second}", path(&id))).await.expect(202);
        site.put_share(&member, &id, None).await;
        let refused = member.delete(&path(&id)).await.expect(409);
        assert!(refused["conflictingRequest"]["message"].as_str().unwrap().contains("it has 1 share(s)"), "{refused}");
        show(&member, &id).await;
    }

    async fn a_network_whose_server_may_hold_what_nobody_knows_stays(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let mut server = server(&member.project_id, &id, &subnet_ids(&member, &id).await);
        server.is_auto_deletable = false;
        site.put_server(&server).await;
        let refused = member.delete(&path(&id)).await.expect(409);
        assert!(refused["conflictingRequest"]["message"].as_str().unwrap().contains("non-managed shares"), "{refused}");
    }

    async fn a_deleted_network_is_gone_with_all_it_had(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let ldap = service(&member, "ldap", json!({})).await;
        use_service(&member, &id, &ldap).await.expect(200);
        member.delete(&format!("/security-services/{ldap}")).await.expect(403);
        member.delete(&path(&id)).await.expect(202);
        member.get(&path(&id)).await.expect(404);
        member.delete(&path(&id)).await.expect(404);
        member.delete(&format!("/security-services/{ldap}")).await.expect(202);
    }

    async fn a_project_has_as_many_networks_as_it_may(db) {
        let site = site_with(&db, |c| c.quota.share.share_networks = 2).await;
        let (member, stranger) = (site.member().await, site.stranger().await);
        let first = network(&member, json!({})).await;
        network(&site.share(Persona::SecondMember).await.at("2.99"), json!({})).await;
        let refused = member.post("/share-networks", json!({ "share_network": {} })).await.expect(413);
        assert_eq!(refused["overLimit"]["message"], "ShareNetworksLimitExceeded: Maximum number of share-networks allowed (2) exceeded.");
        network(&stranger, json!({})).await;
        member.delete(&path(&first)).await.expect(202);
        assert_eq!(site.used(&member, "share_networks").await, 1);
        network(&member, json!({})).await;
        assert_eq!(site.network_drift().await, 0);
    }

    async fn what_works_on_a_network_has_to_end_first(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        assert_eq!((tell(&member, &id, "error").await, tell(&operator, &id, "fine").await, tell(&operator, &uuid(), "error").await), (403, 400, 404));
        assert_eq!(tell(&operator.at("2.62"), &id, "error").await, 404);
        let ldap = service(&member, "ldap", json!({})).await;
        for status in ["network_change", "error"] {
            assert_eq!(tell(&operator, &id, status).await, 202);
            assert_eq!(show(&member, &id).await["status"], status);
            use_service(&member, &id, &ldap).await.expect(400);
            let refused = try_create(&member, json!({ "share_network_id": id })).await.expect(400);
            assert!(refused["badRequest"]["message"].as_str().unwrap().contains("isn't in an 'active' state"), "{refused}");
        }
        assert_eq!(tell(&operator, &id, "active").await, 202);
        use_service(&member, &id, &ldap).await.expect(200);
    }

    async fn a_share_needs_a_subnet_for_its_zone(db) {
        let site = site_with(&db, |c| c.block.default_availability_zone = "here".into()).await;
        let member = site.member().await;
        site.operator().await.post("/types", json!({ "share_type": { "name": "served", "extra_specs": { "driver_handles_share_servers": "True" } } })).await.expect(200);
        let id = network(&member, json!({ "availability_zone": "here" })).await;
        let ask = |network: String| { let member = member.clone(); async move {
            try_create(&member, json!({ "share_type": "served", "share_network_id": network, "availability_zone": "here" })).await
        } };
        ask(id.clone()).await.expect(200);
        ask(uuid()).await.expect(404);
        let only = subnet_ids(&member, &id).await;
        // its only subnet goes; a network may be without any
        let bare = network(&member, json!({})).await;
        let first = subnet_ids(&member, &bare).await;
        member.delete(&format!("{}/subnets/{}", path(&bare), first[0])).await.expect(202);
        ask(bare.clone()).await.expect(400);
        subnet(&member, &bare, json!({})).await;
        ask(bare).await.expect(200);
        assert_eq!(only.len(), 1);
    }

    async fn a_network_goes_or_gets_a_share_but_not_both(db) {
        let site = site(&db).await;
        let member = site.member().await;
        site.operator().await.post("/types", json!({ "share_type": { "name": "served", "extra_specs": { "driver_handles_share_servers": "True" } } })).await.expect(200);
        for _ in 0..5 {
            let id = network(&member, json!({})).await;
            let path = path(&id);
            let (made, gone) =
                tokio::join!(try_create(&member, json!({ "share_type": "served", "share_network_id": id })), member.delete(&path));
            let made = made.status.as_u16();
            assert!(matches!((made, gone.status.as_u16()), (200, 409) | (404, 202)), "{made} {gone:?}");
            assert_eq!(member.get(&path).await.status.as_u16(), if made == 200 { 200 } else { 404 });
        }
    }
}
