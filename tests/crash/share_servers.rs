//! Share servers, cut short: whatever moment the process dies at, shares come to a true end, a network has one server, and the
//! service, the array and the addresses agree on which servers there are.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, SubnetConfig},
    store::{Store, StoreOptions},
};
use support::{
    Client, Persona, Process,
    array::{Action, Array, Fault},
    persona::Personas,
    wait,
};

pub struct World {
    pub array: Array,
    pub process: Process,
    personas: Personas,
}

impl World {
    pub async fn start() -> Self {
        Self::with(&["array"]).await
    }

    /// With these back ends, all of them in one array, the first with the most room.
    pub async fn with(names: &[&str]) -> Self {
        let array = Array::start().await.unwrap();
        let process = Process::start(|c| {
            let of = |(n, name): (usize, &&str)| {
                let mut backend = BackendConfig::of_shares(*name, "memory");
                backend.grants.http = vec![array.url().trim_start_matches("http://").to_owned()];
                let options = json!({
                    "array_url": array.url(), "driver_handles_share_servers": "yes", "addresses_per_subnet": 2, "multiple_subnets": true,
                    "allocation_update": true, "pools": [format!("pool{n}:{}", 10_000 >> n)],
                });
                backend.options = options.as_object().unwrap().clone();
                backend
            };
            c.backends = names.iter().enumerate().map(of).collect();
            c.network.subnets = vec![SubnetConfig {
                id: "blue".into(),
                network_id: "net".into(),
                cidr: "10.1.0.0/24".parse().unwrap(),
                gateway: None,
                ranges: Vec::new(),
                vlan: None,
                mtu: None,
            }];
        })
        .await;
        let personas = process.personas().await;
        let world = Self { array, process, personas };
        let specs = json!({ "driver_handles_share_servers": "True" });
        world.share(Persona::Admin).post("/types", json!({ "share_type": { "name": "served", "extra_specs": specs } })).await.expect(200);
        world
    }

    pub fn share(&self, persona: Persona) -> Client {
        self.process.client(&self.personas, Api::Share, persona).at("2.70")
    }

    pub async fn network(&self) -> String {
        let body = json!({ "share_network": { "neutron_net_id": "net", "neutron_subnet_id": "blue" } });
        self.share(Persona::Member).post("/share-networks", body).await.expect(200)["share_network"]["id"].as_str().unwrap().to_owned()
    }

    pub async fn create(&self, network: &str) -> String {
        let share = json!({ "share_proto": "NFS", "size": 1, "share_type": "served", "share_network_id": network });
        self.share(Persona::Member).post("/shares", json!({ "share": share })).await.expect(200)["share"]["id"].as_str().unwrap().to_owned()
    }

    pub async fn drop_share(&self, id: &str) {
        let member = self.share(Persona::Member);
        member.delete(&format!("/shares/{id}")).await.expect(202);
        member.until_gone(&format!("/shares/{id}")).await;
    }

    pub async fn fault(&self, verb: &str, action: Action) {
        self.array.control.fault(Fault::on(verb, action)).await.unwrap();
    }

    pub async fn kill_and_restart(&mut self) {
        self.process.kill();
        self.process.restart().await;
    }

    pub async fn servers(&self) -> Vec<Value> {
        let list = self.share(Persona::Admin).get("/share-servers").await.expect(200);
        list["share_servers"].as_array().unwrap().clone()
    }

    /// What must be true once everything is over: the service stops here, so that its database can be read.
    pub async fn holds_true(mut self) {
        let all_done = |jobs: &Value| jobs["jobs"].as_array().unwrap().iter().all(|j| j["state"] == "done");
        let admin = self.process.client(&self.personas, Api::Admin, Persona::Admin);
        admin.until("/jobs", |a| all_done(&a.expect(200))).await;
        let servers = self.servers().await;
        for server in &servers {
            assert!(server["status"] == "active" || server["status"] == "error", "{server}");
        }
        let alive: BTreeSet<String> =
            servers.iter().filter(|s| s["status"] == "active").map(|s| s["id"].as_str().unwrap().to_owned()).collect();
        let held: BTreeSet<String> = self.array.control.ids("servers").await.unwrap().into_iter().collect();
        assert_eq!(alive, held, "left: servers of the service, right: objects of the array");
        assert!(self.process.terminate().await.success());
        let store = Store::open(&StoreOptions::new(self.process.config().database_url())).await.unwrap();
        let mut addresses = Vec::new();
        for server in &alive {
            let of_server = store.network_allocations_of(server).await.unwrap();
            assert!(!of_server.is_empty() && of_server.len() % 2 == 0, "two a subnet: {of_server:?}");
            addresses.extend(of_server.into_iter().map(|a| a.ip_address));
        }
        let mut tx = store.begin().await.unwrap();
        let mut given = tx.network_addresses("blue").await.unwrap();
        tx.rollback().await.unwrap();
        addresses.sort_unstable();
        given.sort_unstable();
        assert_eq!(addresses, given, "left: addresses of servers that are there, right: all that are given");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_set_up_ends_with_one_server_and_every_share_available() {
    for action in [Action::HoldCall, Action::HoldAnswer] {
        let mut world = World::start().await;
        world.fault("share-servers.setup", action).await;
        let network = world.network().await;
        let mut shares = Vec::new();
        for _ in 0..4 {
            shares.push(world.create(&network).await);
        }
        world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
        world.kill_and_restart().await;
        world.array.control.release().await.unwrap();
        for share in &shares {
            world.share(Persona::Member).share_until(share, "available").await;
        }
        assert_eq!(world.servers().await.len(), 1);
        world.holds_true().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_of_set_up_and_of_teardown_is_repeated() {
    let world = World::start().await;
    world.fault("share-servers.setup", Action::DropAnswer).await;
    let network = world.network().await;
    let share = world.create(&network).await;
    world.share(Persona::Member).share_until(&share, "available").await;
    world.drop_share(&share).await;
    let server = world.servers().await[0]["id"].as_str().unwrap().to_owned();
    world.fault("share-servers.teardown", Action::DropAnswer).await;
    let path = format!("/share-servers/{server}");
    world.share(Persona::Admin).delete(&path).await.expect(202);
    world.share(Persona::Admin).until_gone(&path).await;
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_teardown_ends_with_the_server_and_its_network_gone() {
    for action in [Action::HoldCall, Action::HoldAnswer] {
        let mut world = World::start().await;
        let network = world.network().await;
        let share = world.create(&network).await;
        world.share(Persona::Member).share_until(&share, "available").await;
        world.drop_share(&share).await;
        world.fault("share-servers.teardown", action).await;
        world.share(Persona::Member).delete(&format!("/share-networks/{network}")).await.expect(202);
        world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
        world.kill_and_restart().await;
        world.array.control.release().await.unwrap();
        let operator = world.share(Persona::Admin);
        operator.until("/share-servers", |a| a.body()["share_servers"].as_array().is_some_and(Vec::is_empty)).await;
        world.holds_true().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_a_failed_set_up_is_undone_leaves_no_address() {
    let mut world = World::start().await;
    // the array makes the server and says that it did not, each time
    world.array.control.fault(Fault::on("share-servers.setup", Action::Refuse(507)).times(100)).await.unwrap();
    world.fault("share-servers.teardown", Action::HoldAnswer).await;
    let network = world.network().await;
    let share = world.create(&network).await;
    world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
    world.kill_and_restart().await;
    world.array.control.release().await.unwrap();
    let path = format!("/shares/{share}");
    world.share(Persona::Member).until(&path, |a| a.body()["share"]["status"] == "error").await;
    let servers = world.servers().await;
    assert_eq!((servers.len(), &servers[0]["status"]), (1, &json!("error")));
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_server_is_deleted_before_its_clean_up_and_neither_stays() {
    let world = World::start().await;
    // the array does not build the server, and does not take down what there is of it either
    world.array.control.fault(Fault::on("share-servers.setup", Action::Refuse(507)).times(100)).await.unwrap();
    world.array.control.fault(Fault::on("share-servers.teardown", Action::Refuse(503)).times(100)).await.unwrap();
    let network = world.network().await;
    let share = world.create(&network).await;
    world.share(Persona::Member).until(&format!("/shares/{share}"), |a| a.body()["share"]["status"] == "error").await;
    let waits = |job: &Value| job["kind"] == "share_server.cleanup" && job["state"] == "ready";
    let admin = world.process.client(&world.personas, Api::Admin, Persona::Admin);
    admin.until("/jobs", |a| a.body()["jobs"].as_array().is_some_and(|jobs| jobs.iter().any(waits))).await;
    world.array.control.clear_faults().await.unwrap();
    // an operator deletes the server with a call that the array takes for newer than the clean-up's
    let server = world.servers().await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/share-servers/{server}");
    world.share(Persona::Admin).delete(&path).await.expect(202);
    world.share(Persona::Admin).until_gone(&path).await;
    world.holds_true().await;
}
