//! The service without back ends, for what only the database knows: networks, subnets, security services, and servers that a
//! test writes down itself.

use serde_json::{Value, json};
use stowage::{
    clock,
    domain::{share::ShareStatus, share_server::ServerStatus, share_type::Attributes},
    store::sql::{share_servers::NewShareServer, shares::NewShare, types::TypeOf},
};
use support::{Answer, Client, TestApp, db::Db};

use crate::site::{Site, text, uuid};

pub async fn site(db: &Db) -> Site {
    site_with(db, |_| {}).await
}

pub async fn site_with(db: &Db, change: impl FnOnce(&mut stowage::config::Config)) -> Site {
    let builder = TestApp::builder().backends([]).config(change);
    let builder = if db.is_postgres() { builder.database(db.options.url.clone()) } else { builder };
    Site::of(builder.start().await)
}

pub fn path(network: &str) -> String {
    format!("/share-networks/{network}")
}
pub fn subnets(network: &str) -> String {
    format!("/share-networks/{network}/subnets")
}
pub fn action(network: &str) -> String {
    format!("/share-networks/{network}/action")
}

/// A share network; its id.
pub async fn network(client: &Client, members: Value) -> String {
    text(&client.post("/share-networks", json!({ "share_network": members })).await.expect(200)["share_network"]["id"])
}

pub async fn try_subnet(client: &Client, network: &str, members: Value) -> Answer {
    client.post(&subnets(network), json!({ "share-network-subnet": members })).await
}

/// Another subnet of a network; its id.
pub async fn subnet(client: &Client, network: &str, members: Value) -> String {
    text(&try_subnet(client, network, members).await.expect(200)["share_network_subnet"]["id"])
}

/// The ids of a network's subnets, the oldest first.
pub async fn subnet_ids(client: &Client, network: &str) -> Vec<String> {
    let listed = client.get(&subnets(network)).await.expect(200);
    listed["share_network_subnets"].as_array().unwrap().iter().map(|s| text(&s["id"])).collect()
}

pub fn service_body(kind: &str, members: Value) -> Value {
    let mut service = json!({ "type": kind });
    service.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    json!({ "security_service": service })
}

/// A security service; its id.
pub async fn service(client: &Client, kind: &str, members: Value) -> String {
    text(&client.post("/security-services", service_body(kind, members)).await.expect(200)["security_service"]["id"])
}

pub async fn use_service(client: &Client, network: &str, service: &str) -> Answer {
    client.post(&action(network), json!({ "add_security_service": { "security_service_id": service } })).await
}

/// A server as a driver would have built it.
pub fn server(project: &str, network: &str, subnets: &[String]) -> NewShareServer {
    NewShareServer {
        id: uuid(),
        share_network_id: network.to_owned(),
        project_id: project.to_owned(),
        backend: "stowage@m".to_owned(),
        status: ServerStatus::Active,
        is_auto_deletable: true,
        network_allocation_update_support: false,
        security_service_update_support: false,
        subnet_ids: subnets.to_vec(),
        source_share_server_id: None,
        created_at: clock::now(),
    }
}

impl Site {
    /// Writes a server down; its id.
    pub async fn put_server(&self, server: &NewShareServer) -> String {
        let mut tx = self.app().store.begin().await.unwrap();
        tx.share_server_insert(server).await.unwrap();
        tx.commit().await.unwrap();
        server.id.clone()
    }

    /// A server over all subnets of a network; its id.
    pub async fn server_on(&self, client: &Client, network: &str) -> String {
        let subnets = subnet_ids(client, network).await;
        self.put_server(&server(&client.project_id, network, &subnets)).await
    }

    /// Writes down an available share on a network, and on a server of it.
    pub async fn put_share(&self, client: &Client, network: &str, server: Option<&str>) {
        let store = &self.app().store;
        let share_type = store.type_by_name(TypeOf::Share, "default").await.unwrap().unwrap();
        let share = NewShare {
            id: uuid(),
            instance_id: uuid(),
            project_id: client.project_id.clone(),
            user_id: client.user_id.clone(),
            name: None,
            description: None,
            size_gib: 1,
            share_proto: "NFS".to_owned(),
            share_type_id: share_type.row.id,
            share_network_id: Some(network.to_owned()),
            snapshot_id: None,
            is_public: false,
            status: ShareStatus::Available,
            attributes: Attributes::default(),
            mount_point_name: None,
            availability_zone: None,
            created_at: clock::now(),
        };
        let mut tx = store.begin().await.unwrap();
        tx.share_insert(&share).await.unwrap();
        if let Some(server) = server {
            assert!(tx.share_server_takes(server, &share.id, clock::now()).await.unwrap());
        }
        tx.commit().await.unwrap();
    }

    /// Figures that differ from what they count, among those of share networks.
    pub async fn network_drift(&self) -> usize {
        let mut tx = self.app().store.begin().await.unwrap();
        tx.lock_quota().await.unwrap();
        let counted = tx.count_quota().await.unwrap();
        tx.quota_check(&counted, |r| r == "share:share_networks", false).await.unwrap().len()
    }
}
