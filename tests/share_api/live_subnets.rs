//! Another subnet for a network with live share servers: who may be given one, when, and what follows. By the rows of the
//! specification.

use futures::future::join_all;
use serde_json::{Value, json};
use stowage::{clock, config::BackendConfig};
use support::{Client, both_databases};

use crate::{
    live::{CHECK, Live, UPDATE, able, add, ask_with, at_rest, faulty, locations, said, server_until, site, site_with, try_add},
    net::{self, try_subnet},
    served::{SERVED, available, create_with, one, paths},
    site::{action, allow, snapshot, snapshot_action, text, try_create, try_snapshot},
};

/// Puts a share of the caller's on this back end.
async fn available_on(client: &Client, network: &str, pool: &str) -> String {
    let id = create_with(client, network, json!({ "scheduler_hints": { "only_host": pool } })).await;
    client.share_until(&id, "available").await;
    id
}

async fn status(client: &Client, network: &str) -> Value {
    client.get(&net::path(network)).await.expect(200)["share_network"]["status"].clone()
}

both_databases! {
    async fn a7_before_2_70_a_zone_with_servers_gets_no_second_subnet(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        try_add(&member.at("2.69"), &live.network, "red").await.expect(409);
        site.untouched(&member, &live).await;
    }

    async fn a7_servers_that_cannot_be_given_more_keep_the_network_as_it_is(db) {
        let site = site(&db, json!({ "allocation_update": false })).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let refused = try_add(&member, &live.network, "red").await.expect(409);
        assert!(said(&refused).contains("network_allocation_update_support"), "{refused}");
        ask_with(&member, &live.network, "red", json!({})).await.expect(409);
        site.untouched(&member, &live).await;
    }

    async fn a7_one_server_of_the_network_that_cannot_is_enough(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        // in another zone, and from before the driver had learnt it
        let old = site.another_server(&member, &live.network, false).await;
        let refused = try_add(&member, &live.network, "red").await.expect(409);
        assert!(said(&refused).contains("network_allocation_update_support"), "{refused}");
        // what counts is the server's row, which an operator may change
        let mut tx = site.app().store.begin().await.unwrap();
        assert_eq!(tx.share_servers_can_update_allocations(&[old], true, clock::now()).await.unwrap(), 1);
        tx.commit().await.unwrap();
        add(&member, &live.network, "red").await;
    }

    async fn a7_a_driver_without_the_interface_cannot_whatever_the_servers_row_says(db) {
        let site = site_with(&db, vec![able("m", json!({})), BackendConfig::of_shares("h", "hostile")], |_| {}).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let zone = net::subnet(&member, &live.network, json!({ "availability_zone": "nova" })).await;
        let mut other = net::server(&member.project_id, &live.network, &[zone]);
        other.backend = "stowage@h".to_owned();
        other.network_allocation_update_support = true;
        site.put_server(&other).await;
        let refused = try_add(&member, &live.network, "red").await.expect(409);
        assert!(said(&refused).contains("network_allocation_update_support"), "{refused}");
    }

    async fn a7_a_zone_without_servers_gets_its_subnet_at_once(db) {
        let site = faulty(&db, &["allocations.check-update-network-allocations=refuse:unsupported"]).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        for _ in 0..2 {
            try_subnet(&member, &live.network, json!({ "availability_zone": "nova" })).await.expect(200);
            assert_eq!(status(&member, &live.network).await, "active", "no driver is asked, and none has to do anything");
        }
    }

    async fn a7_the_default_subnets_are_a_zone_of_their_own(db) {
        let site = faulty(&db, &["allocations.check-update-network-allocations=refuse:unsupported"]).await;
        let member = site.member().await;
        let in_zone = |subnet: &str| json!({ "neutron_net_id": "net", "neutron_subnet_id": subnet, "availability_zone": "nova" });
        let network = net::network(&member, in_zone("blue")).await;
        available(&member, &network).await;
        // no server is in the default ones
        for _ in 0..2 {
            add(&member, &network, "red").await;
            assert_eq!(status(&member, &network).await, "active");
        }
        try_subnet(&member, &network, in_zone("red")).await.expect(409);
        assert_eq!(net::subnet_ids(&member, &network).await.len(), 3);
    }

    async fn a9_ipv6_comes_beside_ipv4_and_what_was_there_stays(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        let before = locations(&member, &live.share).await;
        let pairs = format!("/shares/{}/export_locations/{}/metadata", live.share, text(&before[0]["id"]));
        member.post(&pairs, json!({ "metadata": { "mine": "kept" } })).await.expect(200);
        let before = locations(&member, &live.share).await;

        let made = try_add(&member, &live.network, "green").await.expect(200)["share_network_subnet"].clone();
        assert_eq!((&made["cidr"], &made["ip_version"]), (&json!("fd00:3::/64"), &json!(6)));
        let network = at_rest(&member, &live.network).await;
        assert_eq!(network["share_network_subnets"].as_array().unwrap().len(), 2);

        let after = locations(&member, &live.share).await;
        assert_eq!(after.len(), 2, "{after:?}");
        assert_eq!(after[0], before[0], "id, created_at and the user's metadata stay");
        assert_eq!(after[0]["metadata"]["mine"], "kept");
        assert!(text(&after[0]["path"]).starts_with("10.1.0.") && text(&after[1]["path"]).starts_with("[fd00:3::"), "{after:?}");
        let shown = operator.get(&one(&live.server)).await.expect(200)["share_server"].clone();
        assert_eq!((&shown["status"], shown["share_network_subnet_ids"].as_array().unwrap().len()), (&json!("active"), 2));
        assert!(shown["share_network_subnet_ids"].as_array().unwrap().contains(&made["id"]));
        let addresses = site.addresses(&live.server).await;
        assert_eq!(addresses.len(), 2);
        let six = addresses.iter().find(|a| a.network_key == "green").unwrap();
        assert_eq!((six.subnet_id.as_deref(), &shown["backend_details"]["address.1"]), (made["id"].as_str(), &json!(six.ip_address)));
        // and later shares come to the same server, on both
        let next = available(&member, &live.network).await;
        assert_eq!(site.only_server(&live.network).await, live.server);
        assert_eq!(paths(&member, &next).await.len(), 2);
    }

    async fn a9_all_of_a_servers_shares_follow_and_a_third_subnet_comes_like_the_second(db) {
        let site = site(&db, json!({ "addresses_per_subnet": 2 })).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let second = available(&member, &live.network).await;
        for (subnet, n) in [("red", 4), ("green", 6)] {
            add(&member, &live.network, subnet).await;
            at_rest(&member, &live.network).await;
            assert_eq!((paths(&member, &live.share).await.len(), paths(&member, &second).await.len()), (n, n));
        }
        assert_eq!(site.addresses(&live.server).await.len(), 6);
    }

    async fn a9_long_work_in_the_array_is_waited_for(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=pending:2"]).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        add(&member, &live.network, "green").await;
        at_rest(&member, &live.network).await;
        server_until(&site, &live.server, "active").await;
        assert_eq!(paths(&member, &live.share).await.len(), 2);
    }

    async fn a9_of_two_creates_at_once_one_comes_first(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=delay:800"]).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let answers = join_all((0..4).map(|_| try_add(&member, &live.network, "green"))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|a| a.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409]);
        assert_eq!(at_rest(&member, &live.network).await["share_network_subnets"].as_array().unwrap().len(), 2);
        assert_eq!(site.addresses(&live.server).await.len(), 2);
    }

    async fn a9_while_a_network_is_changed_nothing_comes_onto_it_changes_or_goes(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=delay:4000"]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        add(&member, &live.network, "red").await;
        assert_eq!(status(&member, &live.network).await, "network_change");
        assert_eq!(operator.get(&one(&live.server)).await.expect(200)["share_server"]["status"], "network_change");
        try_create(&member, json!({ "share_network_id": live.network, "share_type": SERVED })).await.expect(400);
        member.post(&action(&live.share), json!({ "allow_access": { "access_type": "ip", "access_to": "10.1.0.201" } })).await.expect(400);
        member.post(&action(&live.share), json!({ "deny_access": { "access_id": live.rule } })).await.expect(400);
        try_add(&member, &live.network, "green").await.expect(409);
        ask_with(&member, &live.network, "green", json!({})).await.expect(400);
        try_subnet(&member, &live.network, json!({ "availability_zone": "nova" })).await.expect(400);
        operator.delete(&one(&live.server)).await.expect(403);
        let share = format!("/shares/{}", live.share);
        for (client, body) in [
            (&member, json!({ "extend": { "new_size": 3 } })),
            (&member, json!({ "shrink": { "new_size": 1 } })),
            (&operator, json!({ "force_delete": null })),
            (&operator, json!({ "unmanage": null })),
        ] {
            let refused = client.post(&action(&live.share), body.clone()).await.expect(400);
            assert!(said(&refused).contains("network_change"), "{body}: {refused}");
        }
        let refused = member.delete(&share).await.expect(400);
        assert!(said(&refused).contains("network_change"), "{refused}");
        // what is only written down may change
        member.put(&share, json!({ "share": { "display_name": "mine" } })).await.expect(200);
        at_rest(&member, &live.network).await;
        allow(&member, &live.share, "10.1.0.201").await;
    }

    async fn a9_nothing_goes_from_under_a_change_that_takes_long(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=pending:30"]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        site.share_type("snapped", json!({ "driver_handles_share_servers": "True", "snapshot_support": "True" })).await;
        let network = crate::served::network(&member, &["blue"]).await;
        let share = create_with(&member, &network, json!({ "share_type": "snapped" })).await;
        member.share_until(&share, "available").await;
        let taken = snapshot(&member, &share).await;
        let server = site.only_server(&network).await;
        add(&member, &network, "green").await;
        member.delete(&format!("/snapshots/{taken}")).await.expect(400);
        operator.post(&snapshot_action(&taken), json!({ "force_delete": null })).await.expect(400);
        // an operator says so: the driver answers for what it was told there was
        operator.post(&snapshot_action(&taken), json!({ "reset_status": { "status": "deleting" } })).await.expect(202);
        at_rest(&member, &network).await;
        server_until(&site, &server, "active").await;
        assert_eq!(paths(&member, &share).await.len(), 2);
    }

    async fn a12_of_a_change_of_the_network_and_one_of_a_share_at_once_one_comes_first(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=delay:1500", "shares.extend=delay:4000"]).await;
        let member = site.member().await;
        for _ in 0..3 {
            let live = Live::on(&site, &member).await;
            // so that both come to their decision at about the same time
            crate::live::asked(&member, &live.network, "green").await;
            let (added, extended) = futures::future::join(
                try_add(&member, &live.network, "green"),
                member.post(&action(&live.share), json!({ "extend": { "new_size": 3 } })),
            )
            .await;
            let both = (added.status.as_u16(), extended.status.as_u16());
            assert!([(200, 400), (400, 202)].contains(&both), "{both:?} {added:?} {extended:?}");
        }
    }

    async fn a9_while_a_network_is_changed_rules_of_snapshots_of_its_shares_stay_as_they_are(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=delay:2000"]).await;
        let member = site.member().await;
        let specs = json!({ "driver_handles_share_servers": "True", "snapshot_support": "True", "mount_snapshot_support": "True" });
        site.share_type("mountable", specs).await;
        let network = crate::served::network(&member, &["blue"]).await;
        let share = create_with(&member, &network, json!({ "share_type": "mountable" })).await;
        member.share_until(&share, "available").await;
        let taken = snapshot(&member, &share).await;
        let rule = |to: &str| json!({ "allow_access": { "access_type": "ip", "access_to": to } });
        let id = member.post(&snapshot_action(&taken), rule("10.1.0.200")).await.expect(202)["snapshot_access"]["id"].clone();
        let list = format!("/snapshots/{taken}/access-list");
        member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "active").await;
        add(&member, &network, "red").await;
        assert_eq!(status(&member, &network).await, "network_change");
        member.post(&snapshot_action(&taken), rule("10.1.0.201")).await.expect(400);
        member.post(&snapshot_action(&taken), json!({ "deny_access": { "access_id": id } })).await.expect(400);
        try_snapshot(&member, &share, json!({})).await.expect(400);
        at_rest(&member, &network).await;
        let rules = member.get(&list).await.expect(200)["snapshot_access_list"].clone();
        assert_eq!((rules.as_array().map(Vec::len), &rules[0]["state"]), (Some(1), &json!("active")));
        let locations = member.get(&format!("/snapshots/{taken}/export-locations")).await.expect(200);
        assert_eq!(locations["share_snapshot_export_locations"].as_array().map(Vec::len), Some(2), "{locations}");
        member.post(&snapshot_action(&taken), rule("10.1.0.201")).await.expect(202);
    }

    async fn a9_two_back_ends_of_one_network_are_changed_side_by_side(db) {
        let slow = json!({ "faults": ["allocations.update-network-allocations=delay:1500"] });
        let site = site_with(&db, vec![able("m", slow.clone()), able("n", slow)], |_| {}).await;
        let operator = site.operator().await;
        let network = crate::served::network(&operator, &["blue"]).await;
        let shares = [available_on(&operator, &network, "stowage@m#p1").await, available_on(&operator, &network, "stowage@n#p1").await];
        let servers = site.servers(&network).await;
        assert_eq!(servers.len(), 2);
        let seen = crate::live::asked(&operator, &network, "green").await;
        assert_eq!(seen, json!({ "compatible": true, "hosts_check_result": { "stowage@m": true, "stowage@n": true } }));
        add(&operator, &network, "green").await;
        let statuses: Vec<Value> = site.servers(&network).await.iter().map(|s| s["status"].clone()).collect();
        assert_eq!(statuses, ["network_change", "network_change"], "neither waits for the other");
        at_rest(&operator, &network).await;
        for server in site.servers(&network).await {
            assert_eq!((&server["status"], server["share_network_subnet_ids"].as_array().unwrap().len()), (&json!("active"), 2));
        }
        for share in &shares {
            assert_eq!(paths(&operator, share).await.len(), 2);
        }
    }

    async fn a9_a_subnet_without_enough_addresses_is_refused_by_name_and_nothing_changes(db) {
        let site = site(&db, json!({ "addresses_per_subnet": 2 })).await;
        let member = site.member().await;
        let network = crate::served::network(&member, &["blue"]).await;
        let share = available(&member, &network).await;
        let refused = try_add(&member, &network, "tiny").await.expect(409);
        assert!(said(&refused).contains("tiny"), "{refused}");
        assert_eq!((status(&member, &network).await, site.given().await.len(), paths(&member, &share).await.len()), (json!("active"), 2, 2));
        assert_eq!(net::subnet_ids(&member, &network).await.len(), 1);
        try_subnet(&member, &network, json!({ "neutron_net_id": "net", "neutron_subnet_id": "nowhere" })).await.expect(400);
    }

    async fn a12_what_is_not_at_rest_is_named_and_who_ends_it(db) {
        let site = site(&db, json!({ "faults": ["access.apply@busy*=delay:600"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        let refused = async |what: &str, who: &str, next: &str| {
            for answer in [try_add(&member, &live.network, "red").await, ask_with(&member, &live.network, "red", json!({})).await] {
                assert_eq!(answer.headers["x-stowage-who-can-act"], who, "{what}");
                let body = answer.expect(400);
                assert!(said(&body).contains(what) && said(&body).ends_with(next), "{what}: {body}");
            }
        };
        site.tell(&live.share, "error").await;
        refused(&live.share, "user", "Delete it, or have your administrator reset it, first.").await;
        site.tell(&live.share, "migrating").await;
        refused(&live.share, "user", "Try again when that has ended.").await;
        site.tell(&live.share, "available").await;
        let reset = |status: &str| json!({ "reset_status": { "status": status } });
        operator.post(&format!("{}/action", one(&live.server)), reset("error")).await.expect(202);
        refused(&live.server, "operator", "Your administrator has to heal or delete it first.").await;
        operator.post(&format!("{}/action", one(&live.server)), reset("active")).await.expect(202);
        // a rule that the driver does not apply
        let bad = text(&member.post(&action(&live.share), json!({ "allow_access": { "access_type": "user", "access_to": "somebody" } })).await.expect(200)["access"]["id"]);
        crate::live::rule_until(&member, &bad, "error").await;
        refused(&live.share, "user", "Remove the rules that are in error first.").await;
        member.post(&action(&live.share), json!({ "deny_access": { "access_id": bad } })).await.expect(202);
        member.until_gone(&format!("/share-access-rules/{bad}")).await;
        operator.post(&net::action(&live.network), reset("error")).await.expect(202);
        try_add(&member, &live.network, "red").await.expect(400);
        operator.post(&net::action(&live.network), reset("active")).await.expect(202);
        site.untouched(&member, &live).await;
        add(&member, &live.network, "red").await;
    }

    async fn a12_a_back_end_that_is_down_makes_it_unavailable(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        site.reconfigure(Vec::new()).await;
        let refused = try_add(&member, &live.network, "red").await.expect(503);
        assert!(!said(&refused).contains("stowage@m"), "users read no back end's name: {refused}");
        let refused = try_add(&operator, &live.network, "red").await.expect(503);
        assert!(said(&refused).contains("stowage@m"), "{refused}");
        ask_with(&member, &live.network, "red", json!({})).await.expect(503);
        site.untouched(&member, &live).await;
    }

    async fn a13_a_subnet_that_was_added_goes_with_its_servers_like_any_other(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let added = add(&member, &live.network, "green").await;
        at_rest(&member, &live.network).await;
        let path = format!("{}/{added}", net::subnets(&live.network));
        member.delete(&path).await.expect(409);
        member.delete(&format!("/shares/{}", live.share)).await.expect(202);
        member.until_gone(&format!("/shares/{}", live.share)).await;
        member.delete(&path).await.expect(202);
        site.operator().await.until_gone(&one(&live.server)).await;
        assert!(site.given().await.is_empty());
    }
}

#[test]
fn the_verbs_of_the_faults_are_the_contracts() {
    // a fault on a misspelt verb would never happen, and the tests above would prove nothing
    let wit = include_str!("../../wit/stowage-driver/0.1.0/share.wit");
    for verb in [CHECK, UPDATE] {
        let (interface, function) = verb.split_once('.').unwrap();
        assert!(wit.contains(&format!("interface {interface} ")) && wit.contains(&format!(" {function}: func")), "{verb}");
    }
}
