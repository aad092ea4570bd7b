//! The service with back ends that build share servers, and networks for these to be in.

use std::net::IpAddr;

use serde_json::{Value, json};
use stowage::{
    config::{BackendConfig, Config, SubnetConfig},
    store::sql::network_allocations::AllocationRow,
};
use support::{Client, db::Db};

use crate::{
    net,
    site::{Site, backend, text},
};

/// The type of shares that live on servers.
pub const SERVED: &str = "served";

/// A back end that builds servers.
pub fn servers(name: &str, options: Value) -> BackendConfig {
    let mut all = json!({ "driver_handles_share_servers": "yes" });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    backend(name, all)
}

/// A service with one of them.
pub async fn site(db: &Db, options: Value) -> Site {
    site_with(db, vec![servers("m", options)], |_| {}).await
}

pub async fn site_with(db: &Db, backends: Vec<BackendConfig>, change: impl FnOnce(&mut Config)) -> Site {
    let site = Site::on(db, backends, |c| {
        c.network.subnets = vec![
            subnet("blue", "10.1.0.0/24", None),
            subnet("red", "10.2.0.0/24", None),
            subnet("green", "fd00:3::/64", None),
            subnet("tiny", "10.9.0.0/24", Some("10.9.0.7")),
        ];
        c.network.default_subnet = "blue".to_owned();
        c.network.admin_subnet = "red".to_owned();
        change(c);
    })
    .await;
    site.share_type(SERVED, json!({ "driver_handles_share_servers": "True" })).await;
    site
}

/// A subnet that users name `net` and `id`; with `only`, it has that one address.
pub fn subnet(id: &str, cidr: &str, only: Option<&str>) -> SubnetConfig {
    SubnetConfig {
        id: id.to_owned(),
        network_id: "net".to_owned(),
        cidr: cidr.parse().unwrap(),
        gateway: None,
        ranges: only.map(|address| address.parse().unwrap()).into_iter().collect(),
        vlan: None,
        mtu: None,
    }
}

/// What names a configured subnet, for a network or a subnet.
pub fn named(subnet: &str) -> Value {
    json!({ "neutron_net_id": "net", "neutron_subnet_id": subnet })
}

/// A share network over these subnets, all of them default ones; its id.
pub async fn network(client: &Client, subnets: &[&str]) -> String {
    let id = net::network(client, named(subnets[0])).await;
    for more in &subnets[1..] {
        net::subnet(client, &id, named(more)).await;
    }
    id
}

/// A share on a network, accepted; its id.
pub async fn create(client: &Client, network: &str) -> String {
    create_with(client, network, json!({})).await
}

pub async fn create_with(client: &Client, network: &str, members: Value) -> String {
    let mut all = json!({ "share_network_id": network, "share_type": SERVED });
    all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    crate::site::create(client, all).await
}

/// An available share on a network; its id.
pub async fn available(client: &Client, network: &str) -> String {
    let id = create(client, network).await;
    client.share_until(&id, "available").await;
    id
}

/// The share, once its creation failed.
pub async fn failed(client: &Client, id: &str) -> Value {
    client.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error").await.body()["share"].clone()
}

pub async fn paths(client: &Client, share: &str) -> Vec<String> {
    let listed = client.get(&format!("/shares/{share}/export_locations")).await.expect(200);
    listed["export_locations"].as_array().unwrap().iter().map(|l| text(&l["path"])).collect()
}

pub fn one(server: &str) -> String {
    format!("/share-servers/{server}")
}

impl Site {
    /// The servers of a network, in full.
    pub async fn servers(&self, network: &str) -> Vec<Value> {
        let operator = self.operator().await;
        let listed = operator.get(&format!("/share-servers?share_network_id={network}")).await.expect(200);
        let mut found = Vec::new();
        for server in listed["share_servers"].as_array().unwrap() {
            found.push(operator.get(&one(server["id"].as_str().unwrap())).await.expect(200)["share_server"].clone());
        }
        found
    }

    /// The only server of a network; its id.
    pub async fn only_server(&self, network: &str) -> String {
        let servers = self.servers(network).await;
        assert_eq!(servers.len(), 1, "{servers:?}");
        text(&servers[0]["id"])
    }

    /// The addresses of a server.
    pub async fn addresses(&self, server: &str) -> Vec<AllocationRow> {
        self.app().store.network_allocations_of(server).await.unwrap()
    }

    /// Every address given in the configured subnets.
    pub async fn given(&self) -> Vec<IpAddr> {
        let mut tx = self.app().store.begin().await.unwrap();
        let mut all = Vec::new();
        for subnet in ["blue", "red", "green", "tiny"] {
            all.extend(tx.network_addresses(subnet).await.unwrap());
        }
        all.iter().map(|a| a.parse().unwrap()).collect()
    }

    /// An operator deletes a server, which is gone afterwards.
    pub async fn delete_server(&self, server: &str) {
        let operator = self.operator().await;
        operator.delete(&one(server)).await.expect(202);
        operator.until_gone(&one(server)).await;
    }
}
