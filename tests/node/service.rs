//! The whole chain: the service, the sandboxed driver, the node, its iSCSI service. Each is killed under load, alone and
//! together; in the end everything the service shows is what the node holds.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::Method;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, Config},
};
use support::{Client, Persona, Process, initiator::Initiator, node::Node, persona::Personas, wait};

const VOLUME_AT_WORK: [&str; 7] = ["creating", "deleting", "detaching", "extending", "retyping", "reverting", "maintenance"];
const SNAPSHOT_AT_WORK: [&str; 3] = ["creating", "deleting", "restoring"];

struct Chain {
    node: Node,
    service: Process,
    personas: Personas,
}

fn on_node(config: &mut Config, node: &Node) {
    let mut backend = BackendConfig::new("linux", "linux");
    backend.grants.http = vec![node.url.trim_start_matches("http://").to_owned()];
    // the file: a literal secret is not written into a configuration
    let token = format!("token = {{ file = {:?} }}", node.dir().join("token"));
    backend.secrets = toml::from_str(&token).unwrap();
    backend.options.insert("nodes".into(), json!([format!("here={}", node.url)]));
    config.backends = vec![backend];
    for limit in [&mut config.quota.volumes, &mut config.quota.gigabytes, &mut config.quota.snapshots] {
        *limit = -1;
    }
}

impl Chain {
    async fn start() -> Self {
        let node = Node::with(&["--loop-size", "4G"]).await;
        let mut service = Process::prepare(|c| on_node(c, &node));
        service.spawn();
        service.ready().await;
        let personas = service.personas().await;
        let chain = Self { node, service, personas };
        let admin = chain.client(Persona::Admin);
        admin.until("/scheduler-stats/get_pools", |a| a.status == 200 && a.body()["pools"][0]["name"] == "stowage@linux#here").await;
        chain
    }

    fn client(&self, persona: Persona) -> Client {
        self.service.client(&self.personas, Api::Block, persona).at("3.54")
    }

    /// Attaches a new volume of 1 GiB to a host: the host's initiator, and the attachment.
    async fn attach(&self) -> (Initiator, Value) {
        let client = self.client(Persona::Member);
        let made = client.post("/volumes", json!({ "volume": { "size": 1 } })).await.expect(202);
        let volume = made["volume"]["id"].as_str().unwrap().to_owned();
        client.volume_until(&volume, "available").await;
        let initiator = Initiator::new(HOST);
        let body = json!({ "attachment": { "volume_uuid": volume, "connector": connector(&initiator) } });
        let attached = client.post("/attachments", body).await.expect(200)["attachment"].clone();
        (initiator, attached)
    }

    /// Waits until no job is ready or running, whatever is wrong meanwhile.
    async fn idle(&self) {
        let admin = self.service.client(&self.personas, Api::Admin, Persona::Admin);
        wait::within(Duration::from_secs(180), "no job to be left", || async {
            for state in ["ready", "running"] {
                let jobs = admin.try_send(Method::GET, &format!("/jobs?state={state}"), None).await.ok()?;
                if jobs.status != 200 || !jobs.body()["jobs"].as_array()?.is_empty() {
                    return None;
                }
            }
            Some(())
        })
        .await;
    }

    /// What must be true once everything is over.
    async fn holds_true(&self) {
        self.idle().await;
        let client = self.client(Persona::Member);
        let volumes = list(&client, "volumes").await;
        let snapshots = list(&client, "snapshots").await;
        for (objects, at_work) in [(&volumes, &VOLUME_AT_WORK[..]), (&snapshots, &SNAPSHOT_AT_WORK[..])] {
            for o in objects.iter() {
                assert!(!at_work.contains(&o["status"].as_str().unwrap()), "nobody works on {o}");
            }
        }
        assert_eq!(alive(&volumes), ids(&self.node.all("volumes").await), "left: volumes of the service, right: of the node");
        assert_eq!(alive(&snapshots), ids(&self.node.all("snapshots").await), "left: snapshots of the service, right: of the node");
        assert_eq!(self.attached(&client).await, self.connected().await, "left: attachments of the service, right: of the node");
        self.node.agrees().await;
    }

    /// `VOLUME HOST` of every attachment with a connection.
    async fn attached(&self, client: &Client) -> BTreeSet<String> {
        let with_connection = |a: &&Value| a["status"] == "attaching" || a["status"] == "attached";
        let mut found = BTreeSet::new();
        for a in list(client, "attachments").await.iter().filter(with_connection) {
            let shown = client.get(&format!("/attachments/{}", a["id"].as_str().unwrap())).await.expect(200);
            let info = &shown["attachment"]["connection_info"];
            assert!(info["target_iqn"].is_string(), "connected without a connection: {shown}");
            found.insert(format!("{} {}", a["volume_id"].as_str().unwrap(), HOST));
        }
        found
    }

    async fn connected(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for volume in self.node.all("volumes").await {
            let id = volume["id"].as_str().unwrap();
            for a in self.node.get(&format!("/v1/volumes/{id}/attachments")).await.ok()["attachments"].as_array().unwrap() {
                found.insert(format!("{id} {}", a["host"].as_str().unwrap()));
            }
        }
        found
    }
}

async fn list(client: &Client, kind: &str) -> Vec<Value> {
    client.get(&format!("/{kind}/detail")).await.expect(200)[kind].as_array().unwrap().clone()
}

fn ids(objects: &[Value]) -> BTreeSet<String> {
    objects.iter().map(|o| o["id"].as_str().unwrap().to_owned()).collect()
}

fn alive(objects: &[Value]) -> BTreeSet<String> {
    let there = |o: &&Value| o["status"] != "error";
    objects.iter().filter(there).map(|o| o["id"].as_str().unwrap().to_owned()).collect()
}

const HOST: &str = "compute-1";

fn connector(initiator: &Initiator) -> Value {
    json!({ "host": HOST, "initiator": initiator.name, "ip": "127.0.0.1", "platform": "x86_64", "os_type": "linux", "multipath": false })
}

/// What `qemu-io` needs, from what the API gave.
fn connection(info: &Value) -> Value {
    json!({
        "portals": [info["target_portal"]], "iqn": info["target_iqn"], "lun": info["target_lun"],
        "auth": { "username": info["auth_username"], "password": info["auth_password"] },
    })
}

/// One client that makes, uses and removes volumes until told to stop, whatever becomes of its calls. Answers are counted.
async fn worker(client: Client, seed: u64, stop: Arc<AtomicBool>, done: Arc<AtomicUsize>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let initiator = Initiator::new(HOST);
    let mut mine: Vec<String> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let send = async |method, path: String, body| -> Option<Value> {
            let Ok(answer) = client.try_send(method, &path, body).await else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                return None;
            };
            assert_ne!(answer.status, 401, "{}", answer.text);
            done.fetch_add(1, Ordering::Relaxed);
            answer.status.is_success().then(|| serde_json::from_str(&answer.text).unwrap_or_default())
        };
        let one = if mine.is_empty() { None } else { Some(rng.random_range(0..mine.len())) };
        match (rng.random_range(0..10), one) {
            (0..3, _) | (_, None) => {
                let made = send(Method::POST, "/volumes".into(), Some(json!({ "volume": { "size": 1 } }))).await;
                mine.extend(made.and_then(|m| Some(m["volume"]["id"].as_str()?.to_owned())));
            }
            (3..5, Some(n)) => {
                let body = json!({ "attachment": { "volume_uuid": mine[n], "connector": connector(&initiator) } });
                send(Method::POST, "/attachments".into(), Some(body)).await;
            }
            (5..7, Some(n)) => {
                let found = send(Method::GET, format!("/attachments?volume_id={}", mine[n]), None).await;
                let first = found.and_then(|f| Some(f["attachments"][0]["id"].as_str()?.to_owned()));
                if let Some(id) = first {
                    send(Method::DELETE, format!("/attachments/{id}"), None).await;
                }
            }
            (7, Some(n)) => {
                send(Method::POST, "/snapshots".into(), Some(json!({ "snapshot": { "volume_id": mine[n], "force": true } }))).await;
            }
            (8, Some(n)) => {
                send(Method::POST, format!("/volumes/{}/action", mine[n]), Some(json!({ "os-extend": { "new_size": 2 } }))).await;
            }
            (_, Some(n)) => {
                if send(Method::DELETE, format!("/volumes/{}?cascade=true", mine[n]), None).await.is_some() {
                    mine.swap_remove(n);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_service_node_and_iscsi_under_load_end_in_what_the_node_holds() {
    let seed = std::env::var("STOWAGE_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(rand::random::<u64>);
    println!("STOWAGE_TEST_SEED={seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    let mut chain = Chain::start().await;
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let workers: Vec<_> =
        (0..4).map(|n| tokio::spawn(worker(chain.client(Persona::Member), seed ^ n, Arc::clone(&stop), Arc::clone(&done)))).collect();
    for round in 0..12 {
        let before = done.load(Ordering::Relaxed);
        let some = before + rng.random_range(20..80);
        wait::until("the load to go on", || std::future::ready((done.load(Ordering::Relaxed) >= some).then_some(()))).await;
        // each alone, then two, then all
        let which = [1, 2, 4, 3, 6, 5, 7, 1, 2, 3, 4, 7][round];
        if which & 1 != 0 {
            chain.service.kill();
        }
        if which & 2 != 0 {
            chain.node.kill();
        }
        let iscsi = chain.node.service_pid();
        if which & 4 != 0 {
            chain.node.kill_service();
        }
        if which & 2 != 0 {
            chain.node.spawn();
            chain.node.ready().await;
        } else if which & 4 != 0 {
            chain.node.service_after(iscsi).await;
        }
        if which & 1 != 0 {
            chain.service.restart().await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.await.unwrap();
    }
    chain.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_took_from_the_iscsi_service_is_there_again_after_a_start_of_the_service() {
    let mut chain = Chain::start().await;
    let (initiator, attached) = chain.attach().await;
    let at = connection(&attached["connection_info"]);
    assert!(initiator.write(&at, 0xA5, "0", "1M").await);
    chain.node.remove_targets();
    assert!(!initiator.can_read(&at).await);
    chain.service.kill();
    chain.service.restart().await;
    let admin = chain.service.client(&chain.personas, Api::Admin, Persona::Admin);
    let run = admin.until("/backends/stowage@linux/ensure", |a| a.expect(200)["ensure"]["state"] == "done").await;
    assert_eq!(run.body()["ensure"]["exported"], 1, "{}", run.text);
    assert!(initiator.reads(&at, 0xA5, "0", "1M").await, "by the name, number and secret that it had");
    chain.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_written_through_the_service_survive_the_kill_of_everything() {
    let mut chain = Chain::start().await;
    let (initiator, attached) = chain.attach().await;
    let at = connection(&attached["connection_info"]);
    assert!(initiator.write(&at, 0xA5, "0", "4M").await);
    chain.service.kill();
    chain.node.kill();
    chain.node.kill_service();
    chain.node.spawn();
    chain.node.ready().await;
    assert!(initiator.reads(&at, 0xA5, "0", "4M").await, "without a service");
    chain.service.restart().await;
    let client = chain.client(Persona::Member);
    client.delete(&format!("/attachments/{}", attached["id"].as_str().unwrap())).await.expect(200);
    assert!(!initiator.can_read(&at).await, "a detached initiator");
    let volume = format!("/volumes/{}", attached["volume_id"].as_str().unwrap());
    client.delete(&volume).await.expect(202);
    client.until_gone(&volume).await;
    chain.holds_true().await;
}
