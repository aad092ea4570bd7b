//! Volumes that move between two machines: real bytes through real sessions, and what is left when things die on the way.

use std::{fs, path::PathBuf, time::Duration};

use http::Method;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, Bind, Config},
};
use support::{
    Answer, Client, Persona, Process, db,
    initiator::{self, Initiator},
    node::Node,
    persona::Personas,
    postgres, wait,
};

const HOST: &str = "compute-1";

/// Two nodes, each a back end with a layout of its own, and a service in front of them. Types `one` and `two` name them.
struct Pair {
    one: Node,
    two: Node,
    service: Process,
    personas: Personas,
}

fn backend(name: &str, node: &Node, layout: &str) -> BackendConfig {
    let mut backend = BackendConfig::new(name, "linux");
    backend.grants.http = vec![node.url.trim_start_matches("http://").to_owned()];
    backend.secrets = toml::from_str(&format!("token = {{ file = {:?} }}", node.dir().join("token"))).unwrap();
    backend.options.insert("nodes".into(), json!([format!("here={}", node.url)]));
    backend.options.insert("layout".into(), json!(layout));
    backend
}

fn on_both(config: &mut Config, one: &Node, two: &Node) {
    config.backends = vec![backend("one", one, "target-per-volume"), backend("two", two, "target-per-initiator")];
    config.copy.program = initiator::qemu_img();
}

impl Pair {
    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        Self::with(&["--loop-size", "3G"], change).await
    }

    /// The second node with arguments of its own.
    async fn with(second: &[&str], change: impl FnOnce(&mut Config)) -> Self {
        let (one, two) = tokio::join!(Node::with(&["--loop-size", "3G"]), Node::with(second));
        let service = Process::start(|c| {
            on_both(c, &one, &two);
            change(c);
        })
        .await;
        let personas = service.personas().await;
        let pair = Self { one, two, service, personas };
        let operator = pair.operator();
        operator
            .until("/scheduler-stats/get_pools", |a| a.status == 200 && a.body()["pools"].as_array().is_some_and(|p| p.len() == 2))
            .await;
        for name in ["one", "two"] {
            let body = json!({ "volume_type": { "name": name, "extra_specs": { "volume_backend_name": name } } });
            operator.post("/types", body).await.expect(200);
        }
        pair
    }

    fn member(&self) -> Client {
        self.service.client(&self.personas, Api::Block, Persona::Member).at("3.54")
    }
    fn operator(&self) -> Client {
        self.service.client(&self.personas, Api::Block, Persona::Admin)
    }

    /// A volume on the first node.
    async fn volume(&self) -> String {
        let body = json!({ "volume": { "size": 1, "volume_type": "one" } });
        let id = self.member().post("/volumes", body).await.expect(202)["volume"]["id"].as_str().unwrap().to_owned();
        self.member().volume_until(&id, "available").await;
        id
    }

    async fn retype(&self, id: &str, to: &str) {
        let body = json!({ "os-retype": { "new_type": to, "migration_policy": "on-demand" } });
        self.member().post(&format!("/volumes/{id}/action"), body).await.expect(202);
    }

    /// As an operator sees it when its move has ended in this way.
    async fn until_moved(&self, id: &str, migration: &str) -> Value {
        let ended = |a: &Answer| a.status == 200 && a.body()["volume"]["migration_status"] == migration;
        self.operator().until(&format!("/volumes/{id}"), ended).await.body()["volume"].clone()
    }

    /// Waits until the job says so.
    async fn until_says(&self, what: &str) {
        let admin = self.service.client(&self.personas, Api::Admin, Persona::Admin);
        let says = |a: &Answer| a.body()["jobs"][0]["reason"].as_str().is_some_and(|r| r.starts_with(what));
        admin.until("/jobs?kind=volume.migrate&state=running", |a| a.status == 200 && says(a)).await;
    }

    /// Waits until no job is ready or running.
    async fn idle(&self) {
        let admin = self.service.client(&self.personas, Api::Admin, Persona::Admin);
        wait::within(Duration::from_secs(120), "no job to be left", || async {
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

    /// Runs `work` with the volume attached.
    async fn attached<T>(&self, id: &str, work: impl AsyncFnOnce(Initiator, Value) -> T) -> T {
        let initiator = Initiator::new(HOST);
        let connector = json!({ "host": HOST, "initiator": initiator.name, "ip": "127.0.0.1" });
        let body = json!({ "attachment": { "volume_uuid": id, "connector": connector } });
        let made = self.member().post("/attachments", body).await.expect(200)["attachment"].clone();
        let info = &made["connection_info"];
        let at = json!({
            "portals": [info["target_portal"]], "iqn": info["target_iqn"], "lun": info["target_lun"],
            "auth": { "username": info["auth_username"], "password": info["auth_password"] },
        });
        let done = work(initiator, at).await;
        self.member().delete(&format!("/attachments/{}", made["id"].as_str().unwrap())).await.expect(200);
        done
    }

    /// Something at both ends, something in the middle, and nothing between.
    async fn fill(&self, id: &str) {
        self.attached(id, async |initiator, at| {
            for (pattern, offset, length) in CONTENT {
                assert!(initiator.write(&at, pattern, offset, length).await);
            }
        })
        .await;
    }

    /// It reads as it was filled.
    async fn is_whole(&self, id: &str) {
        self.attached(id, async |initiator, at| {
            for (pattern, offset, length) in CONTENT {
                assert!(initiator.reads(&at, pattern, offset, length).await, "{length} at {offset}");
            }
            for (offset, length) in [("40M", "100M"), ("760M", "200M")] {
                assert!(initiator.reads(&at, 0, offset, length).await, "nothing was written at {offset}");
            }
            assert_eq!(initiator.length(&at).await, "1 GiB");
        })
        .await;
    }

    /// In the end the nodes hold these objects, nobody is connected to them, and no program of ours runs on.
    async fn hold(&self, one: &[&str], two: &[&str]) {
        self.idle().await;
        for (node, wanted) in [(&self.one, one), (&self.two, two)] {
            let mut found: Vec<String> = node.all("volumes").await.iter().map(|v| v["id"].as_str().unwrap().to_owned()).collect();
            let mut wanted: Vec<String> = wanted.iter().map(|id| (*id).to_owned()).collect();
            found.sort();
            wanted.sort();
            assert_eq!(found, wanted);
            node.agrees().await;
            assert!(node.targets().values().all(|t| t.luns.is_empty()), "{:?}", node.targets());
        }
        wait::until("no copy to run", || std::future::ready(copies().is_empty().then_some(()))).await;
        let left = fs::read_dir(self.service.state_dir().join("copy")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "files with secrets");
    }
}

const CONTENT: [(u8, &str, &str); 3] = [(0xA5, "0", "32M"), (0x3C, "700M", "48M"), (0x77, "1020M", "4M")];

fn name_id(volume: &Value) -> String {
    volume["os-vol-mig-status-attr:name_id"].as_str().unwrap().to_owned()
}

/// Command lines of programs that copy a volume.
fn copies() -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter(|e| e.file_name().to_string_lossy().parse::<u32>().is_ok());
    let lines = pids.filter_map(|e| fs::read(e.path().join("cmdline")).ok());
    let lines = lines.map(|l| String::from_utf8_lossy(&l).replace('\0', " "));
    lines.filter(|l| l.contains("io.stowage:copy.")).collect()
}

/// CHAP passwords that a node gave out.
async fn secrets(node: &Node) -> Vec<String> {
    let mut found = Vec::new();
    for volume in node.all("volumes").await {
        let path = format!("/v1/volumes/{}/attachments", volume["id"].as_str().unwrap());
        for attachment in node.get(&path).await.ok()["attachments"].as_array().unwrap() {
            // only the answer to an attach has it; the same one again changes nothing
            let again = format!("{path}/{}", attachment["initiator"].as_str().unwrap());
            let connection = node.put(&again, json!({ "mode": attachment["mode"] })).await.ok()["connection"].take();
            found.push(connection["auth"]["password"].as_str().unwrap().to_owned());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_and_its_bytes_go_to_another_node_and_back_again() {
    let pair = Pair::start(|_| {}).await;
    let id = pair.volume().await;
    pair.fill(&id).await;
    pair.retype(&id, "two").await;
    let v = pair.until_moved(&id, "success").await;
    assert_eq!(
        (&v["status"], &v["volume_type"], &v["os-vol-host-attr:host"]),
        (&json!("available"), &json!("two"), &json!("stowage@two#here"))
    );
    let there = name_id(&v);
    pair.hold(&[], &[&there]).await;
    pair.is_whole(&id).await;
    // what was never written takes no room there either
    let used = fs::metadata(pair.two.dir().join(format!("data/volumes/{there}.img"))).unwrap();
    assert!(std::os::unix::fs::MetadataExt::blocks(&used) * 512 < 200 << 20, "holes stay holes");
    pair.retype(&id, "one").await;
    pair.operator().until(&format!("/volumes/{id}"), |a| a.body()["volume"]["volume_type"] == "one").await;
    let back = name_id(&pair.until_moved(&id, "success").await);
    assert!(back != there && back != id);
    pair.hold(&[&back], &[]).await;
    pair.is_whole(&id).await;
    pair.member().delete(&format!("/volumes/{id}")).await.expect(202);
    pair.member().until_gone(&format!("/volumes/{id}")).await;
    pair.hold(&[], &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_stands_in_an_argument_and_files_with_them_are_ours_alone() {
    let pair = Pair::start(|c| c.copy.bandwidth_mib = 64).await;
    let id = pair.volume().await;
    pair.fill(&id).await;
    pair.retype(&id, "two").await;
    pair.until_says("copying").await;
    let running = wait::until("the copy to run", || std::future::ready(Some(copies()).filter(|c| !c.is_empty()))).await;
    let secrets = [secrets(&pair.one).await, secrets(&pair.two).await].concat();
    assert_eq!(secrets.len(), 2);
    for line in running {
        assert!(!secrets.iter().any(|s| line.contains(s.as_str())), "a password in {line}");
    }
    for entry in fs::read_dir(pair.service.state_dir().join("copy")).unwrap().flatten() {
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&entry.metadata().unwrap().permissions()) & 0o777, 0o600);
    }
    let v = pair.until_moved(&id, "success").await;
    pair.hold(&[], &[&name_id(&v)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_of_the_service_at_any_moment_of_a_move_ends_in_one_whole_volume() {
    let seed = std::env::var("STOWAGE_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(rand::random::<u64>);
    println!("STOWAGE_TEST_SEED={seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    let mut pair = Pair::start(|c| c.copy.bandwidth_mib = 256).await;
    let id = pair.volume().await;
    pair.fill(&id).await;
    let mut object = id.clone();
    for round in 0..6 {
        let to = if round % 2 == 0 { "two" } else { "one" };
        pair.retype(&id, to).await;
        // a random moment of the whole: making, connecting, copying, comparing, disconnecting, the swap, the clean-up
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..4000))).await;
        pair.service.kill();
        // another one, in the middle of what takes over
        if round % 3 == 2 {
            pair.service.restart().await;
            tokio::time::sleep(Duration::from_millis(rng.random_range(0..1000))).await;
            pair.service.kill();
        }
        pair.service.restart().await;
        pair.operator().until(&format!("/volumes/{id}"), |a| a.status == 200 && a.body()["volume"]["volume_type"] == to).await;
        let v = pair.until_moved(&id, "success").await;
        assert_eq!(v["status"], "available");
        assert_ne!(name_id(&v), object);
        object = name_id(&v);
        if to == "two" {
            pair.hold(&[], &[&object]).await
        } else {
            pair.hold(&[&object], &[]).await
        }
        pair.is_whole(&id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_slept_past_its_lease_begins_the_copy_anew() {
    let pair = Pair::start(|c| c.copy.bandwidth_mib = 64).await;
    let id = pair.volume().await;
    pair.fill(&id).await;
    pair.retype(&id, "two").await;
    pair.until_says("copying").await;
    let before = wait::until("the copy to run", || std::future::ready(Some(copies()).filter(|c| !c.is_empty()))).await;
    pair.service.pause();
    tokio::time::sleep(pair.service.config().jobs.lease + Duration::from_millis(500)).await;
    pair.service.resume();
    wait::until("the old copy to end", || std::future::ready(copies().iter().all(|c| !before.contains(c)).then_some(()))).await;
    let v = pair.until_moved(&id, "success").await;
    pair.hold(&[], &[&name_id(&v)]).await;
    pair.is_whole(&id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_a_copy_over_cuts_the_one_that_still_runs() {
    if !db::is_wanted("postgres") {
        return;
    }
    let database = postgres::database().await;
    let mut pair = Pair::start(|c| {
        c.copy.bandwidth_mib = 4;
        c.database.url = database.url.clone();
    })
    .await;
    let id = pair.volume().await;
    pair.fill(&id).await;
    pair.retype(&id, "two").await;
    pair.until_says("copying").await;
    wait::until("the copy to run", || std::future::ready((!copies().is_empty()).then_some(()))).await;
    // its program runs on, and copies
    pair.service.pause();
    let second = Process::start(|c| {
        on_both(c, &pair.one, &pair.two);
        c.database.url = database.url.clone();
        c.listen.identity = Bind::OFF;
    })
    .await;
    let other = second.client(&pair.personas, Api::Block, Persona::Admin);
    let moved = |a: &Answer| a.status == 200 && a.body()["volume"]["migration_status"] == "success";
    let v = other.until(&format!("/volumes/{id}"), moved).await.body()["volume"].clone();
    // written after the swap; a late write of the old copy would undo it
    let first = std::mem::replace(&mut pair.service, second);
    pair.fill(&id).await;
    first.resume();
    wait::until("the first process to notice", || std::future::ready(first.log().contains("lease was lost").then_some(()))).await;
    pair.hold(&[], &[&name_id(&v)]).await;
    pair.is_whole(&id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_whose_disk_fills_up_leaves_the_volume_where_it_was() {
    let pair = Pair::with(&["--loop-size", "200M"], |_| {}).await;
    let id = pair.volume().await;
    pair.attached(&id, async |initiator, at| {
        for offset in (0..320).step_by(32) {
            assert!(initiator.write(&at, 0x5A, &format!("{offset}M"), "32M").await);
        }
    })
    .await;
    pair.retype(&id, "two").await;
    let v = pair.until_moved(&id, "error").await;
    assert_eq!(
        (&v["status"], &v["volume_type"], &v["os-vol-host-attr:host"]),
        (&json!("available"), &json!("one"), &json!("stowage@one#here"))
    );
    let told = pair.member().get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    assert!(told["messages"][0]["user_message"].as_str().unwrap().starts_with("retype volume:Copying the volume failed"), "{told}");
    pair.hold(&[&id], &[]).await;
    pair.attached(&id, async |initiator, at| {
        assert!(initiator.reads(&at, 0x5A, "0", "320M").await, "untouched");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_that_dies_under_the_copy_leaves_nothing_when_it_is_back() {
    let mut pair = Pair::start(|c| {
        c.copy.bandwidth_mib = 8;
        c.copy.stall = Duration::from_secs(2);
    })
    .await;
    let id = pair.volume().await;
    pair.fill(&id).await;
    pair.retype(&id, "two").await;
    pair.until_says("copying").await;
    pair.two.kill();
    pair.two.kill_service();
    // the operator has had enough of it
    let body = json!({ "os-reset_status": { "migration_status": "error" } });
    pair.operator().post(&format!("/volumes/{id}/action"), body).await.expect(202);
    pair.member().volume_until(&id, "available").await;
    pair.is_whole(&id).await;
    pair.two.spawn();
    pair.two.ready().await;
    pair.hold(&[&id], &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_the_program_says_what_to_install() {
    let pair = Pair::start(|c| c.copy.program = PathBuf::from("/nonexistent/qemu-img")).await;
    let id = pair.volume().await;
    pair.retype(&id, "two").await;
    pair.until_moved(&id, "error").await;
    pair.hold(&[&id], &[]).await;
    assert!(pair.service.log().contains("operator: install qemu-utils with the iscsi module"), "the operator is told");
    let told = pair.member().get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    assert!(told["messages"][0]["user_message"].as_str().unwrap().contains("ask its operator"), "{told}");
    let doctor = pair.service.command().arg("doctor").output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("install qemu-utils with its iSCSI module"), "{said}");
}
