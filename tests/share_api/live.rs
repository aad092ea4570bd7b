//! Share servers that are there and are given another subnet: the service with back ends that can, and one share on a server.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    config::{BackendConfig, Config},
    driver::{Call, types::StringMap},
};
use support::{Answer, Client, db::Db};

use crate::{
    net,
    served::{self, available, named, one, servers},
    site::{Site, allow, text},
};

pub const CHECK: &str = "allocations.check-update-network-allocations";
pub const UPDATE: &str = "allocations.update-network-allocations";

/// A back end whose servers can be given more subnets, of both address families.
pub fn able(name: &str, options: Value) -> BackendConfig {
    let mut all = json!({ "multiple_subnets": true, "allocation_update": true, "ip_versions": ["4", "6"] });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    servers(name, all)
}

/// A service with one of them.
pub async fn site(db: &Db, options: Value) -> Site {
    site_with(db, vec![able("m", options)], |_| {}).await
}

/// A service with one of them that does what `faults` say.
pub async fn faulty(db: &Db, faults: &[&str]) -> Site {
    site(db, json!({ "faults": faults })).await
}

pub async fn site_with(db: &Db, backends: Vec<BackendConfig>, change: impl FnOnce(&mut Config)) -> Site {
    served::site_with(db, backends, change).await
}

/// A share with a rule on a server of a network in `blue`.
pub struct Live {
    pub network: String,
    pub share: String,
    pub rule: String,
    pub server: String,
}

impl Live {
    pub async fn on(site: &Site, client: &Client) -> Self {
        let network = served::network(client, &["blue"]).await;
        let share = available(client, &network).await;
        let rule = allow(client, &share, "10.1.0.200").await;
        rule_until(client, &rule, "active").await;
        let server = site.only_server(&network).await;
        Self { network, share, rule, server }
    }
}

/// What the service answers to another default subnet, in this configured one.
pub async fn try_add(client: &Client, network: &str, subnet: &str) -> Answer {
    net::try_subnet(client, network, named(subnet)).await
}

/// Another subnet, accepted; its id.
pub async fn add(client: &Client, network: &str, subnet: &str) -> String {
    text(&try_add(client, network, subnet).await.expect(200)["share_network_subnet"]["id"])
}

/// What the check of such a subnet answers.
pub async fn ask(client: &Client, network: &str, subnet: &str) -> Value {
    ask_with(client, network, subnet, json!({})).await.expect(202)
}

pub async fn ask_with(client: &Client, network: &str, subnet: &str, more: Value) -> Answer {
    let mut members = named(subnet);
    members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(&net::action(network), json!({ "share_network_subnet_create_check": members })).await
}

/// Asks until drivers have answered.
pub async fn asked(client: &Client, network: &str, subnet: &str) -> Value {
    support::wait::until("the drivers to answer", || async {
        let answer = ask(client, network, subnet).await;
        (!answer["compatible"].is_null()).then_some(answer)
    })
    .await
}

/// Waits until the network is active again; the network.
pub async fn at_rest(client: &Client, network: &str) -> Value {
    client.until(&net::path(network), |a| a.body()["share_network"]["status"] == "active").await.body()["share_network"].clone()
}

pub async fn server_until(site: &Site, server: &str, status: &str) -> Value {
    let operator = site.operator().await;
    operator.until(&one(server), |a| a.body()["share_server"]["status"] == status).await.body()["share_server"].clone()
}

pub async fn rule_until(client: &Client, rule: &str, state: &str) {
    client.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == state).await;
}

/// The locations of a share as its owner sees them, in full.
pub async fn locations(client: &Client, share: &str) -> Vec<Value> {
    let listed = client.get(&format!("/shares/{share}/export_locations")).await.expect(200);
    let mut all = Vec::new();
    for l in listed["export_locations"].as_array().unwrap() {
        let path = format!("/shares/{share}/export_locations/{}", text(&l["id"]));
        all.push(client.get(&path).await.expect(200)["export_location"].clone());
    }
    all
}

pub fn said(answer: &Value) -> String {
    text(&answer.as_object().unwrap().values().next().unwrap()["message"])
}

impl Site {
    /// Puts other back ends into force, as a reload does.
    pub async fn reconfigure(&self, backends: Vec<BackendConfig>) {
        let mut config = Config::clone(&self.app().config.get());
        config.backends = backends;
        self.app().config.replace(config.clone());
        self.app().apply(&config).await;
    }

    /// Another server of a network, in a zone of its own: as its driver built it, but without addresses; its id.
    pub async fn another_server(&self, client: &Client, network: &str, able: bool) -> String {
        let zone = net::subnet(client, network, json!({ "availability_zone": "nova" })).await;
        let mut server = net::server(&client.project_id, network, &[zone]);
        server.network_allocation_update_support = able;
        let backend = self.app().drivers.backend(&server.backend).unwrap();
        let call = Call::internal("setup", Duration::from_secs(10));
        backend.need_share_servers().unwrap().setup(&call, &server.id, &[], &StringMap::new()).await.unwrap();
        self.put_server(&server).await
    }

    /// What must be so when nothing has happened to the network.
    pub async fn untouched(&self, client: &Client, live: &Live) {
        let network = client.get(&net::path(&live.network)).await.expect(200)["share_network"].clone();
        assert_eq!(network["status"], "active");
        assert_eq!(network["share_network_subnets"].as_array().unwrap().len(), 1, "{network}");
        let server = self.operator().await.get(&one(&live.server)).await.expect(200)["share_server"].clone();
        assert_eq!((&server["status"], server["share_network_subnet_ids"].as_array().unwrap().len()), (&json!("active"), 1));
        assert_eq!(self.addresses(&live.server).await.len(), 1);
        assert_eq!(served::paths(client, &live.share).await.len(), 1);
        rule_until(client, &live.rule, "active").await;
    }
}
