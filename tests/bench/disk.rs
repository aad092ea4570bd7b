//! Bytes on a disk: the storage node alone, then the service with the driver `linux` in front of it, then a real initiator.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use hyper::Method;
use serde_json::{Value, json};
use stowage::config::BackendConfig;
use support::{initiator, node::Node};

use crate::{
    create,
    http::{Connection, Sample},
    report::{Column, Report, per_second},
    scale::Scale,
    service::Service,
};

/// Why it cannot be measured here.
pub fn lacks() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("it needs root");
    }
    (!initiator::is_installed()).then_some("run tests/datapath/install.sh")
}

pub async fn measure(report: &mut Report, column: Column, scale: &Scale, say: &impl Fn(&str)) {
    // a sparse file; thin volumes of 20 times as much fit, which is more than are made
    let node = Arc::new(Node::with(&["--loop-size", "32G"]).await);
    for at_once in [1, 8] {
        say(&format!("the node alone, {at_once} at once"));
        node_calls(report, column, &node, at_once, scale.cycles[0].1).await;
    }
    let mut service = Service::start_with(None, |config| {
        let mut backend = BackendConfig::new("linux", "linux");
        backend.grants.http = vec![node.url.trim_start_matches("http://").to_owned()];
        backend.secrets = toml::from_str(&format!("token = {{ file = {:?} }}", node.dir().join("token"))).unwrap();
        backend.options.insert("nodes".to_owned(), json!([format!("here={}", node.url)]));
        config.backends = vec![backend];
    })
    .await;
    service.log_in().await;
    let mut volumes = Vec::new();
    for at_once in [1, 16] {
        let name = format!("create until available on a node, {at_once} at once");
        say(&name);
        let (made, sample) = create::create(&service, create::What::Volume, at_once, scale.creates[0].1).await;
        volumes.extend(made);
        report.rate(column, &name, sample.rate(), per_second(&sample));
    }
    let name = "attachment create, log in over iSCSI, read 4 KiB, complete, delete";
    say(name);
    let sample = cycles(&service, &volumes[0], scale.cycles[0].1.min(100)).await;
    report.rate(column, name, sample.rate(), per_second(&sample));
    service.stop().await;
}

/// Create, snapshot, attach, detach and the two deletes, each timed for itself.
async fn node_calls(report: &mut Report, column: Column, node: &Arc<Node>, at_once: usize, count: usize) {
    let verbs = ["create", "snapshot", "attach", "detach", "delete snapshot", "delete"];
    let ids: Vec<String> = (0..count).map(|n| format!("bench-{at_once}-{n}")).collect();
    for verb in verbs {
        let (next, begun) = (Arc::new(AtomicUsize::new(0)), Instant::now());
        let workers = (0..at_once).map(|_| {
            let (next, node, ids) = (Arc::clone(&next), Arc::clone(node), ids.clone());
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let sent = Instant::now();
                    one(&node, verb, id).await;
                    latencies.push(sent.elapsed());
                }
                latencies
            })
        });
        let all = futures::future::join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
        let sample = Sample::new(all, begun.elapsed());
        report.rate(column, &format!("node: {verb}, {at_once} at once"), sample.rate(), per_second(&sample));
    }
}

async fn one(node: &Node, verb: &str, id: &str) {
    let attachment = format!("/v1/volumes/{id}/attachments/iqn.2026-01.org.example:bench");
    let answer = match verb {
        "create" => node.put(&format!("/v1/volumes/{id}"), json!({ "size_gib": 1 })).await,
        "snapshot" => node.put(&format!("/v1/snapshots/{id}"), json!({ "volume": id })).await,
        "attach" => node.put(&attachment, json!({})).await,
        "detach" => node.delete(&attachment).await,
        "delete snapshot" => node.delete(&format!("/v1/snapshots/{id}")).await,
        _ => node.delete(&format!("/v1/volumes/{id}")).await,
    };
    answer.ok();
}

async fn cycles(service: &Service, volume: &str, count: usize) -> Sample {
    let host = initiator::Initiator::new("bench");
    let mut connection = Connection::open(&service.block(), &service.token).await;
    let (mut latencies, begun) = (Vec::new(), Instant::now());
    for _ in 0..count {
        let sent = Instant::now();
        cycle(&mut connection, &service.project_id, volume, &host).await;
        latencies.push(sent.elapsed());
    }
    Sample::new(latencies, begun.elapsed())
}

async fn cycle(connection: &mut Connection, project: &str, volume: &str, host: &initiator::Initiator) {
    let all = format!("/v3/{project}/attachments");
    let connector =
        json!({ "host": "bench", "ip": "127.0.0.1", "initiator": host.name, "platform": "x86_64", "os_type": "linux", "multipath": false });
    let body = json!({ "attachment": { "volume_uuid": volume, "connector": connector } });
    let made = connection.json(200, Method::POST, &all, Some(&body)).await;
    let at = initiator_side(&made["attachment"]["connection_info"]);
    assert!(host.can_read(&at).await, "no access: {made}");
    let one = format!("{all}/{}", made["attachment"]["id"].as_str().unwrap());
    connection.expect(204, Method::POST, &format!("{one}/action"), Some(&json!({ "os-complete": null }))).await;
    connection.expect(200, Method::DELETE, &one, None).await;
}

fn initiator_side(info: &Value) -> Value {
    json!({
        "portals": [info["target_portal"]], "iqn": info["target_iqn"], "lun": info["target_lun"],
        "auth": { "username": info["auth_username"], "password": info["auth_password"] },
    })
}
