//! A service in a process of its own, and an array outside of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, Config},
};
use support::{Client, Persona, Process, array::Array, persona::Personas, wait};

/// States that a job owns. `attaching` is not one: the export stands, and the client has yet to say `os-complete`.
const TRANSITIONAL: [&str; 7] = ["creating", "deleting", "detaching", "extending", "retyping", "reverting", "maintenance"];
/// Likewise of snapshots.
const SNAPSHOT_TRANSITIONAL: [&str; 3] = ["creating", "deleting", "restoring"];

pub struct World {
    pub array: Array,
    pub process: Process,
    personas: Personas,
}

/// One back end `array` on the outside array, no quota.
pub fn on_array(config: &mut Config, url: &str) {
    let mut backend = BackendConfig::new("array", "memory");
    backend.grants.http = vec![url.trim_start_matches("http://").to_owned()];
    backend.grants.concurrency = 8;
    backend.options.insert("array_url".into(), json!(url));
    config.backends = vec![backend];
    config.quota.volumes = -1;
    config.quota.gigabytes = -1;
}

impl World {
    pub async fn start() -> Self {
        let array = Array::start().await.unwrap();
        let process = Process::start(|c| on_array(c, array.url())).await;
        let personas = process.personas().await;
        let world = Self { array, process, personas };
        world.pool_reported().await;
        world
    }

    /// Creates fail with "no valid back end" before the first report.
    async fn pool_reported(&self) {
        let admin = self.block(Persona::Admin);
        let path = format!("/{}/scheduler-stats/get_pools", admin.project_id);
        admin.until(&path, |a| a.status == 200 && a.body()["pools"].as_array().is_some_and(|p| !p.is_empty())).await;
    }

    pub fn block(&self, persona: Persona) -> Client {
        self.process.client(&self.personas, Api::Block, persona).at("3.54")
    }
    pub fn admin(&self) -> Client {
        self.process.client(&self.personas, Api::Admin, Persona::Admin)
    }

    /// A volume that is available.
    pub async fn volume(&self) -> String {
        let id = create_volume(&self.block(Persona::Member)).await.unwrap();
        self.block(Persona::Member).volume_until(&id, "available").await;
        id
    }
    pub async fn volumes(&self, count: usize) -> Vec<String> {
        let client = self.block(Persona::Member);
        let made = (0..count).map(|_| create_volume(&client));
        let ids: Vec<String> = futures::future::join_all(made).await.into_iter().map(Option::unwrap).collect();
        for id in &ids {
            client.volume_until(id, "available").await;
        }
        ids
    }

    pub async fn kill_and_restart(&mut self) {
        self.process.kill();
        self.process.restart().await;
    }

    /// Waits until no job is ready or running.
    pub async fn idle(&self) {
        // in one look: between two, a job goes from the one state to the other
        let all_done = |jobs: &Value| jobs["jobs"].as_array().unwrap().iter().all(|j| j["state"] == "done");
        self.admin().until("/jobs", |a| all_done(&a.expect(200))).await;
    }

    /// Every volume as its owner sees it, by id.
    pub async fn shown(&self) -> Vec<Value> {
        let list = self.block(Persona::Member).get("/volumes/detail").await.expect(200);
        list["volumes"].as_array().unwrap().clone()
    }

    /// What must be true once everything is over.
    pub async fn holds_true(&self) {
        self.idle().await;
        let shown = self.shown().await;
        for volume in &shown {
            let status = volume["status"].as_str().unwrap();
            assert!(!TRANSITIONAL.contains(&status), "{} is still {status}", volume["id"]);
        }
        let alive: BTreeSet<String> =
            shown.iter().filter(|v| v["status"] != "error").map(|v| v["id"].as_str().unwrap().to_owned()).collect();
        let held: BTreeSet<String> = self.array.control.ids("volumes").await.unwrap().into_iter().collect();
        assert_eq!(alive, held, "left: volumes of the service, right: objects of the array");
        assert_eq!(self.snapshots().await, self.held_snapshots().await, "left: snapshots of the service, right: objects of the array");
        assert_eq!(self.attached().await, self.connected().await, "left: attachments of the service, right: connections of the array");
    }

    /// `VOLUME.SNAPSHOT` of every snapshot.
    async fn snapshots(&self) -> BTreeSet<String> {
        let list = self.block(Persona::Member).get("/snapshots/detail").await.expect(200);
        let list = list["snapshots"].as_array().unwrap();
        for snapshot in list {
            let status = snapshot["status"].as_str().unwrap();
            assert!(!SNAPSHOT_TRANSITIONAL.contains(&status), "{} is still {status}", snapshot["id"]);
        }
        let id = |s: &Value| format!("{}.{}", s["volume_id"].as_str().unwrap(), s["id"].as_str().unwrap());
        list.iter().filter(|s| s["status"] != "error").map(id).collect()
    }
    async fn held_snapshots(&self) -> BTreeSet<String> {
        self.array.control.ids("snapshots").await.unwrap().into_iter().collect()
    }

    /// The array's key, `VOLUME.INITIATOR`, of every attachment that has a connection.
    async fn attached(&self) -> BTreeSet<String> {
        let list = self.block(Persona::Member).get("/attachments/detail").await.expect(200);
        let connected = list["attachments"].as_array().unwrap().iter().filter(|a| a["status"] == "attaching" || a["status"] == "attached");
        let mut found = BTreeSet::new();
        for attachment in connected {
            let shown = self.block(Persona::Member).get(&format!("/attachments/{}", attachment["id"].as_str().unwrap())).await.expect(200);
            let shown = &shown["attachment"];
            assert!(shown["connection_info"].as_object().is_some_and(|c| !c.is_empty()), "connected without a connection: {shown}");
            found.insert(format!("{}.{}", shown["volume_id"].as_str().unwrap(), INITIATOR.replace(':', "%3a")));
        }
        found
    }
    async fn connected(&self) -> BTreeSet<String> {
        self.array.control.ids("connections").await.unwrap().into_iter().collect()
    }
}

/// Of the only host that attaches in this suite.
const INITIATOR: &str = "iqn.2026-01.org.example:compute-1";

pub fn connector() -> Value {
    json!({ "host": "compute-1", "initiator": INITIATOR, "ip": "192.0.2.1", "platform": "x86_64", "os_type": "linux", "multipath": false })
}

/// The id, if the request was accepted.
pub async fn create_volume(client: &Client) -> Option<String> {
    let body = json!({ "volume": { "size": 1, "name": "crash" } });
    let answer = client.try_send(http::Method::POST, "/volumes", Some(body)).await.ok()?;
    Some(answer.expect(202)["volume"]["id"].as_str().unwrap().to_owned())
}

/// Runs `work` for each item, a few at a time, until all are done; meanwhile `when` says when to let go and act.
pub async fn once_some_are_done(done: &std::sync::atomic::AtomicUsize, at_least: usize) {
    wait::until("some of the work to be done", || {
        std::future::ready((done.load(std::sync::atomic::Ordering::SeqCst) >= at_least).then_some(()))
    })
    .await;
}
