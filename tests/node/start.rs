//! The start, the end, and what a machine lacks.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use serde_json::json;
use support::{initiator::Initiator, node::Node};

fn said(command: &mut Command) -> (bool, String) {
    let out = command.output().unwrap();
    (out.status.success(), format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)))
}

#[tokio::test]
async fn a_second_node_on_the_folder_is_refused() {
    let node = Node::start().await;
    let (ok, text) = said(&mut node.command());
    assert!(!ok && text.contains("another node runs on"), "{text}");
}

#[tokio::test]
async fn a_node_that_ends_in_order_leaves_nothing_running_and_nothing_mounted() {
    let mut node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let connection = node.attach("v1", &a.name).await;
    assert!(a.write(&connection, 4, "0", "1M").await);
    let id = node.get("/v1/node").await.ok()["id"].clone();
    node.stop().await;
    assert!(node.service_pid().is_none());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(node.dir().to_str().unwrap()), "{mounts}");
    let (_, loops) = said(Command::new("losetup").arg("-a"));
    assert!(!loops.contains(node.dir().to_str().unwrap()), "{loops}");
    node.spawn();
    node.ready().await;
    assert_eq!(node.get("/v1/node").await.ok()["id"], id);
    assert!(a.reads(&connection, 4, "0", "1M").await);
    node.agrees().await;
}

#[tokio::test]
async fn a_folder_without_btrfs_is_refused_and_the_way_out_is_named() {
    let mut node = Node::prepare(&[]);
    let on_btrfs = rustix::fs::statfs(node.around()).unwrap().f_type == 0x9123_683E;
    if on_btrfs {
        node.spawn();
        node.ready().await;
        return;
    }
    let (ok, text) = said(&mut node.command());
    assert!(!ok && text.contains("--loop-size"), "{text}");
    assert!(!node.dir().exists(), "a first start that is refused leaves nothing behind");
}

#[tokio::test]
async fn a_refused_start_on_a_folder_of_the_operators_leaves_it_as_it_was() {
    let node = Node::prepare(&["--loop-size", "1G", "--tls-certificate", "/nowhere/c.pem", "--tls-key", "/nowhere/k.pem"]);
    fs::create_dir(node.dir()).unwrap();
    fs::write(node.dir().join("notes"), "the operator's").unwrap();
    let (ok, text) = said(&mut node.command());
    assert!(!ok && text.contains("/nowhere/c.pem"), "{text}");
    assert_eq!(fs::read_to_string(node.dir().join("notes")).unwrap(), "the operator's");
}

#[tokio::test]
async fn it_says_that_it_is_ready_only_when_the_iscsi_service_answers() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let portal = taken.local_addr().unwrap().to_string();
    let mut node = Node::prepare(&["--loop-size", "1G", "--portal", &portal]);
    node.spawn();
    support::wait::until("the iSCSI service to fail", async || node.log().contains("the iSCSI service is down").then_some(())).await;
    assert!(!node.printed().contains("is ready"), "{}", node.printed());
    drop(taken);
    node.ready().await;
    support::wait::until("the node to say so", async || node.printed().contains("is ready").then_some(())).await;
}

#[tokio::test]
async fn check_says_which_address_is_taken_and_not_by_whom_it_is_its_own() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let portal = taken.local_addr().unwrap().to_string();
    let node = Node::prepare(&["--portal", &portal, "--check"]);
    let (ok, text) = said(&mut node.command());
    assert!(!ok && text.contains(&format!("WRONG portal: {portal} is in use")) && text.contains("--portal"), "{text}");
    let running = Node::start().await;
    let (ok, text) = said(running.command().arg("--check"));
    assert!(ok && text.contains("in use by this folder's own node"), "{text}");
}

#[tokio::test]
async fn a_token_others_can_read_is_refused() {
    let mut node = Node::start().await;
    node.stop().await;
    fs::set_permissions(node.dir().join("token"), fs::Permissions::from_mode(0o644)).unwrap();
    let (ok, text) = said(&mut node.command());
    assert!(!ok && text.contains("chmod 600"), "{text}");
}

#[tokio::test]
async fn a_record_that_cannot_be_read_stops_the_start_and_is_named() {
    let mut node = Node::start().await;
    node.volume("v1").await;
    node.stop().await;
    let record = node.dir().join("state/volumes/v1.json");
    let kept = fs::read(&record).unwrap();
    fs::write(&record, "{").unwrap();
    let (ok, text) = said(&mut node.command());
    assert!(!ok && text.contains("v1.json"), "{text}");
    fs::write(&record, kept).unwrap();
    node.spawn();
    node.ready().await;
    node.agrees().await;
}

#[tokio::test]
async fn files_without_a_record_are_left_alone_and_half_made_ones_are_removed() {
    let mut node = Node::start().await;
    node.volume("v1").await;
    node.kill();
    let data = node.dir().join("data");
    fs::write(data.join("volumes/stranger.img"), "somebody's").unwrap();
    fs::write(data.join("work/v.half.img"), "half").unwrap();
    // made and promised, not moved
    fs::rename(data.join("volumes/v1.img"), data.join("work/v.v1.img")).unwrap();
    node.spawn();
    node.ready().await;
    assert_eq!(fs::read_to_string(data.join("volumes/stranger.img")).unwrap(), "somebody's");
    fs::remove_file(data.join("volumes/stranger.img")).unwrap();
    node.agrees().await;
}

#[tokio::test]
async fn several_portals_reach_every_target() {
    let second = format!("127.0.0.1:{}", support::ports::free());
    let node = Node::with(&["--loop-size", "1G", "--portal", &second]).await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let mut connection = node.attach("v1", &a.name).await;
    assert_eq!(connection["portals"], json!([node.portal, second]));
    assert!(a.write(&connection, 1, "0", "1M").await);
    connection["portals"] = json!([second]);
    assert!(a.reads(&connection, 1, "0", "1M").await);
}

#[tokio::test]
async fn check_says_what_a_machine_has_and_starts_nothing() {
    let node = Node::prepare(&["--check"]);
    let (ok, text) = said(&mut node.command());
    assert!(ok, "{text}");
    assert!(text.contains("tgtd: /usr/sbin/tgtd") && text.contains("--loop-size"), "{text}");
    assert!(!node.dir().exists());
}

#[tokio::test]
async fn it_serves_https_with_a_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let (certificate, key) = (dir.path().join("c.pem"), dir.path().join("k.pem"));
    let (ok, text) = said(
        Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
            ])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
            .arg(&key)
            .arg("-out")
            .arg(&certificate),
    );
    assert!(ok, "{text}");
    let mut node =
        Node::prepare(&["--loop-size", "1G", "--tls-certificate", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()]);
    node.spawn();
    let root = reqwest::Certificate::from_pem(&fs::read(&certificate).unwrap()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([root]).build().unwrap();
    let url = node.url.replace("http://", "https://");
    let answer = support::wait::until("an answer over TLS", async || client.get(format!("{url}/healthz")).send().await.ok()).await;
    assert!([200, 503].contains(&answer.status().as_u16()));
    assert!(reqwest::get(format!("{}/healthz", node.url)).await.is_err(), "plain HTTP is not answered");
}
