//! Three arrays, each a process: one exports shares itself, two build share servers; one or two services over one database.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, Bind, Config, SubnetConfig},
};
use support::{
    Client, Persona, Process,
    array::Array,
    persona::Personas,
    postgres::{self, Database as Given},
};

use super::plan::{FAULTS, Kind};
use crate::{
    database::Database,
    figures::POOL_GIB,
    half::{LEASE, MAX_AGE, On},
    recount::recount,
};

/// The back ends, in the order of the arrays.
pub const BACKENDS: [&str; 3] = ["stowage@a", "stowage@s", "stowage@t"];
/// Addresses of a share server in each of its subnets.
pub const ADDRESSES: usize = 2;
/// What users name a configured network and its subnets: one of either family, and one that is soon full.
pub const NETWORK: &str = "net";
pub const SUBNETS: [&str; 4] = ["blue", "red", "green", "tiny"];
/// The operator's.
pub const ADMIN_SUBNET: &str = "ops";
const LATEST: &str = "2.99";

pub struct World {
    pub services: Vec<Process>,
    pub arrays: [Array; 3],
    pub database: Database,
    /// The operator's check of the quota has been made.
    pub recounted: bool,
    personas: Personas,
    _given: Option<Given>,
}

fn configure(c: &mut Config, arrays: &[Array; 3], database: Option<&Given>) {
    c.backends = arrays
        .iter()
        .zip(BACKENDS)
        .map(|(array, host)| {
            let name = host.trim_start_matches("stowage@");
            let mut backend = BackendConfig::of_shares(name, "memory");
            backend.grants.http = vec![array.url().trim_start_matches("http://").to_owned()];
            backend.grants.concurrency = 8;
            let mut options = json!({
                "array_url": array.url(), "pools": [format!("p:{POOL_GIB}")], "share_protocols": ["nfs", "cifs"], "ip_versions": ["4", "6"],
                "block_protocol": "none", "faults": FAULTS, "ensure_batch": 3,
            });
            if name != "a" {
                let servers = json!({
                    "driver_handles_share_servers": "yes", "multiple_subnets": true, "allocation_update": true,
                    "addresses_per_subnet": ADDRESSES, "admin_addresses": 1,
                });
                options.as_object_mut().unwrap().extend(servers.as_object().unwrap().clone());
            }
            backend.options = options.as_object().unwrap().clone();
            backend
        })
        .collect();
    c.network.subnets = vec![
        subnet("blue", "10.1.0.0/24", None),
        subnet("red", "10.2.0.0/24", None),
        subnet("green", "fd00:3::/64", None),
        subnet("tiny", "10.9.0.0/24", Some("10.9.0.7-10.9.0.11")),
        subnet(ADMIN_SUBNET, "10.8.0.0/24", None),
    ];
    c.network.default_subnet = "blue".to_owned();
    c.network.admin_subnet = ADMIN_SUBNET.to_owned();
    c.share.unused_share_server_cleanup_interval = Duration::ZERO;
    if let Some(database) = database {
        c.database.url.clone_from(&database.url);
    }
    // sometimes reached
    let quota = &mut c.quota.share;
    (quota.shares, quota.gigabytes, quota.snapshots, quota.snapshot_gigabytes, quota.share_networks) = (10, 24, 8, 16, 4);
    c.jobs.lease = LEASE;
    c.jobs.wait = Duration::from_secs(4);
    c.jobs.max_age = MAX_AGE;
}

fn subnet(id: &str, cidr: &str, ranges: Option<&str>) -> SubnetConfig {
    SubnetConfig {
        id: id.to_owned(),
        network_id: NETWORK.to_owned(),
        cidr: cidr.parse().unwrap(),
        gateway: None,
        ranges: ranges.map(|r| r.parse().unwrap()).into_iter().collect(),
        vlan: None,
        mtu: None,
    }
}

/// What names a configured subnet, for a network or a subnet.
pub fn named(subnet: &str) -> Value {
    json!({ "neutron_net_id": NETWORK, "neutron_subnet_id": subnet })
}

impl World {
    pub async fn start(on: On, services: usize) -> Self {
        let program = env!("CARGO_BIN_EXE_fixture-array");
        let spawn = || async { Array::spawn(program, None).await.unwrap() };
        let arrays = [spawn().await, spawn().await, spawn().await];
        let given = if on == On::Postgres { Some(postgres::database().await) } else { None };
        let first = Process::start(|c| configure(c, &arrays, given.as_ref())).await;
        let personas = first.personas().await;
        let database = Database::new(first.config().database_url());
        let mut world = Self { services: vec![first], arrays, database, recounted: false, personas, _given: given };
        while world.services.len() < services {
            let another = Process::start(|c| {
                configure(c, &world.arrays, world._given.as_ref());
                c.listen.identity = Bind::OFF;
            })
            .await;
            world.services.push(another);
        }
        world.reported().await;
        world.make_types().await;
        world
    }

    /// Every pool is known.
    async fn reported(&self) {
        let all = |a: &support::Answer| a.status == 200 && a.body()["pools"].as_array().is_some_and(|p| p.len() == BACKENDS.len());
        self.admin().until("/scheduler-stats/pools", all).await;
    }

    async fn make_types(&self) {
        for kind in [Kind::Plain, Kind::Served] {
            let specs = json!({
                "driver_handles_share_servers": if kind == Kind::Served { "True" } else { "False" },
                "snapshot_support": "True", "create_share_from_snapshot_support": "True", "revert_to_snapshot_support": "True",
                "mount_snapshot_support": "True",
            });
            let body = json!({ "share_type": { "name": kind.type_name(), "extra_specs": specs } });
            self.admin().post("/types", body).await.expect(200);
        }
    }

    /// A persona's client of one API of the service that is asked first.
    fn client(&self, api: Api, persona: Persona) -> Client {
        self.services[0].client(&self.personas, api, persona)
    }
    /// One for each service.
    pub fn clients(&self, api: Api, persona: Persona) -> Vec<Client> {
        let version = |c: Client| if api == Api::Share { c.at(LATEST) } else { c };
        self.services.iter().map(|s| version(s.client(&self.personas, api, persona))).collect()
    }
    pub fn member(&self) -> Client {
        self.client(Api::Share, Persona::Member).at(LATEST)
    }
    pub fn admin(&self) -> Client {
        self.client(Api::Share, Persona::Admin).at(LATEST)
    }
    pub fn project(&self) -> String {
        self.personas.login(Persona::Member).project_id.clone()
    }

    /// Everything of a list, of every project.
    pub async fn all(&self, path: &str, key: &str) -> Vec<Value> {
        self.admin().get(path).await.expect(200)[key].as_array().unwrap().clone()
    }
    /// Those in the recycle bin, too.
    pub async fn shares(&self) -> Vec<Value> {
        let mut all = self.all("/shares/detail?all_tenants=1", "shares").await;
        all.extend(self.all("/shares/detail?all_tenants=1&is_soft_deleted=true", "shares").await);
        all
    }

    pub async fn snapshots(&self) -> Vec<Value> {
        self.all("/snapshots/detail?all_tenants=1", "snapshots").await
    }
    pub async fn servers(&self) -> Vec<Value> {
        self.all("/share-servers", "share_servers").await
    }
    pub async fn networks(&self) -> Vec<Value> {
        self.all("/share-networks/detail?all_tenants=1", "share_networks").await
    }

    /// The operator's check of the quota.
    pub async fn recount(&mut self) -> Vec<String> {
        let broken = recount(&mut self.services).await;
        self.reported().await;
        self.recounted = true;
        broken
    }
}
