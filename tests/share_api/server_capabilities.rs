//! Servers over several subnets: what back ends say they can, and what is kept of it with servers and networks. By the rows of
//! the specification.

use serde_json::{Value, json};
use support::{Client, both_databases};

use crate::{
    net::{self, subnet_ids, try_subnet},
    served::{available, create_with, failed, named, network, one, paths, servers, site, site_with},
    site::{Site, action, allow, text},
};

const AT_SET_UP: &str = "share_server_multiple_subnet_support";
const LATER: &str = "network_allocation_update_support";
const SERVERS: &str = "driver_handles_share_servers";

fn several() -> Value {
    json!({ "multiple_subnets": true })
}

fn live() -> Value {
    json!({ "allocation_update": true })
}

/// An available share in this pool; its id.
async fn share_in(client: &Client, network: &str, pool: &str) -> String {
    let share = create_with(client, network, json!({ "scheduler_hints": { "only_host": pool } })).await;
    client.share_until(&share, "available").await;
    share
}

async fn network_can(client: &Client, network: &str) -> bool {
    client.get(&net::path(network)).await.expect(200)["share_network"][LATER].as_bool().unwrap()
}

/// What each server of a network can, by its back end.
async fn servers_can(site: &Site, network: &str) -> Vec<(String, bool)> {
    let mut found: Vec<_> = site.servers(network).await.iter().map(|s| (text(&s["host"]), s[LATER].as_bool().unwrap())).collect();
    found.sort_unstable();
    found
}

/// The subnets that a server is over.
fn subnets_of(server: &Value) -> Vec<String> {
    let mut ids: Vec<String> = server["share_network_subnet_ids"].as_array().unwrap().iter().map(text).collect();
    ids.sort_unstable();
    ids
}

async fn servers_in(operator: &Client, subnet: &str) -> Vec<String> {
    let listed = operator.get(&format!("/share-servers?share_network_subnet_id={subnet}")).await.expect(200);
    let mut ids: Vec<String> = listed["share_servers"].as_array().unwrap().iter().map(|s| text(&s["id"])).collect();
    ids.sort_unstable();
    ids
}

both_databases! {
    async fn a1_both_capabilities_are_off_by_default_independent_and_seen_in_the_pools(db) {
        let both = json!({ "multiple_subnets": true, "allocation_update": true });
        let backends = vec![servers("neither", json!({})), servers("several", several()), servers("live", live()), servers("both", both)];
        let site = site_with(&db, backends, |_| {}).await;
        let operator = site.operator().await;
        for (backend, at_set_up, later) in [("neither", false, false), ("several", true, false), ("live", false, true), ("both", true, true)] {
            let found = operator.get(&format!("/scheduler-stats/pools/detail?backend={backend}")).await.expect(200)["pools"].clone();
            let can = &found[0]["capabilities"];
            assert_eq!((found.as_array().unwrap().len(), &can[AT_SET_UP], &can[LATER]), (1, &json!(at_set_up), &json!(later)), "{backend}");
        }
    }

    async fn a1_a_back_end_is_chosen_by_what_a_network_or_a_type_needs(db) {
        let large = servers("large", json!({ "pools": ["p1:9000"] }));
        let site = site_with(&db, vec![large, servers("several", several()), servers("live", live())], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let host = |share: String| { let operator = operator.clone(); async move {
            text(&operator.get(&format!("/shares/{share}")).await.expect(200)["share"]["host"])
        } };
        let plain = network(&member, &["blue"]).await;
        assert_eq!(host(available(&member, &plain).await).await, "stowage@large#p1");
        let over_two = network(&member, &["blue", "red"]).await;
        assert_eq!(host(available(&member, &over_two).await).await, "stowage@several#p1");
        // and as an extra spec, whatever the network
        for (name, spec, expected) in [("over-several", AT_SET_UP, "stowage@several#p1"), ("for-more", LATER, "stowage@live#p1")] {
            site.share_type(name, json!({ SERVERS: "True", spec: "<is> True" })).await;
            let share = create_with(&member, &plain, json!({ "share_type": name })).await;
            member.share_until(&share, "available").await;
            assert_eq!(host(share).await, expected);
        }
        site.share_type("all", json!({ SERVERS: "True", AT_SET_UP: "<is> True", LATER: "<is> True" })).await;
        let share = create_with(&member, &plain, json!({ "share_type": "all" })).await;
        failed(&member, &share).await;
        assert!(site.messages(&share).await[0].contains("Capabilities filter"));
    }

    async fn a1_with_the_first_alone_a_network_is_fixed_once_its_first_server_exists(db) {
        let site = site(&db, several()).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        net::subnet(&member, &id, named("red")).await;
        let share = available(&member, &id).await;
        let before = (subnet_ids(&member, &id).await, paths(&member, &share).await);
        assert_eq!((before.0.len(), before.1.len()), (2, 2));
        let refused = try_subnet(&member, &id, named("green")).await.fault(409);
        assert!(refused.contains(LATER), "{refused}");
        assert_eq!((subnet_ids(&member, &id).await, paths(&member, &share).await), before);
        assert_eq!(member.get(&net::path(&id)).await.expect(200)["share_network"]["status"], "active");
    }

    async fn a2_a_server_keeps_what_its_driver_could_when_it_was_built(db) {
        let site = site(&db, json!({})).await;
        let operator = site.operator().await;
        let (old, new) = (network(&operator, &["blue"]).await, network(&operator, &["blue"]).await);
        available(&operator, &old).await;
        let m = |can: bool| vec![("stowage@m".to_owned(), can)];
        assert_eq!(servers_can(&site, &old).await, m(false));
        // the driver learns it
        site.reconfigure(vec![servers("m", live())]).await;
        available(&operator, &new).await;
        available(&operator, &old).await;
        assert_eq!((servers_can(&site, &old).await, servers_can(&site, &new).await), (m(false), m(true)));
        assert!(try_subnet(&operator, &old, named("red")).await.fault(409).contains(LATER));
        // and forgets it
        site.reconfigure(vec![servers("m", json!({}))]).await;
        available(&operator, &new).await;
        assert_eq!((servers_can(&site, &old).await, servers_can(&site, &new).await), (m(false), m(true)));
    }

    async fn a13_a_server_that_was_built_before_keeps_working_with_one_subnet(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        site.reconfigure(vec![servers("m", json!({ "multiple_subnets": true, "allocation_update": true }))]).await;
        member.post(&action(&share), json!({ "extend": { "new_size": 2 } })).await.expect(202);
        assert_eq!(member.share_until(&share, "available").await["size"], 2);
        let rule = allow(&member, &share, "10.1.0.200").await;
        member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
        let next = available(&member, &id).await;
        assert_eq!((site.only_server(&id).await, paths(&member, &next).await.len()), (server, 1));
        assert_eq!(subnets_of(&site.servers(&id).await[0]), subnet_ids(&member, &id).await);
    }

    async fn a3_a_network_can_what_all_its_servers_can(db) {
        let site = site_with(&db, vec![servers("old", json!({})), servers("new", live())], |_| {}).await;
        let operator = site.operator().await;
        let id = network(&operator, &["blue"]).await;
        assert!(network_can(&operator, &id).await, "no server stands in the way");
        share_in(&operator, &id, "stowage@new#p1").await;
        assert!(network_can(&operator, &id).await);
        share_in(&operator, &id, "stowage@old#p1").await;
        assert!(!network_can(&operator, &id).await);
        assert_eq!(servers_can(&site, &id).await, [("stowage@new".to_owned(), true), ("stowage@old".to_owned(), false)]);
    }

    async fn a3_from_2_70_a_server_shows_what_it_can_and_its_subnets_as_a_list(db) {
        let site = site(&db, live()).await;
        let operator = site.operator().await;
        let id = network(&operator, &["blue"]).await;
        available(&operator, &id).await;
        let (subnet, server) = (subnet_ids(&operator, &id).await.remove(0), site.only_server(&id).await);
        let shown = |version: &'static str| { let (operator, path) = (operator.at(version), one(&server)); async move {
            operator.get(&path).await.expect(200)["share_server"].clone()
        } };
        let (before, since) = (shown("2.69").await, shown("2.70").await);
        assert_eq!((&before["share_network_subnet_id"], before.get("share_network_subnet_ids"), before.get(LATER)), (&json!(subnet), None, None));
        assert_eq!((since.get("share_network_subnet_id"), &since["share_network_subnet_ids"], &since[LATER]), (None, &json!([subnet]), &json!(true)));
    }

    async fn a4_a_server_is_over_several_subnets_and_a_subnet_has_several_servers(db) {
        let site = site_with(&db, vec![servers("m", several()), servers("n", several())], |_| {}).await;
        let operator = site.operator().await;
        let id = network(&operator, &["blue", "green"]).await;
        let mut subnets = subnet_ids(&operator, &id).await;
        subnets.sort_unstable();
        let share = share_in(&operator, &id, "stowage@m#p1").await;
        share_in(&operator, &id, "stowage@n#p1").await;
        let both = site.servers(&id).await;
        assert_eq!(both.iter().map(subnets_of).collect::<Vec<_>>(), [subnets.clone(), subnets.clone()]);
        let mut ids: Vec<String> = both.iter().map(|s| text(&s["id"])).collect();
        ids.sort_unstable();
        for subnet in &subnets {
            assert_eq!(servers_in(&operator, subnet).await, ids);
        }
        // one goes; the other is where it was
        operator.delete(&format!("/shares/{share}")).await.expect(202);
        operator.until_gone(&format!("/shares/{share}")).await;
        site.delete_server(&text(&both.iter().find(|s| s["host"] == "stowage@m").unwrap()["id"])).await;
        let left = site.servers(&id).await;
        assert_eq!((left.len(), subnets_of(&left[0])), (1, subnets.clone()));
        for subnet in &subnets {
            assert_eq!(servers_in(&operator, subnet).await, [text(&left[0]["id"])]);
        }
        assert_eq!(site.given().await.len(), 2, "an address in each subnet");
    }
}
