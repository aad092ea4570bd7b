//! kill -9 of the node, of its iSCSI service, of both.

use serde_json::json;
use support::{initiator::Initiator, node::Node};

const LAYOUTS: [&str; 2] = ["target-per-volume", "target-per-initiator"];

#[tokio::test]
async fn a_killed_node_takes_over_its_service_and_sessions_go_on() {
    let mut node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let connection = node.attach("v1", &a.name).await;
    let mut session = a.session(&connection);
    assert!(session.write(1, "0", "1M").await);
    let service = node.service_pid();
    node.kill();
    assert!(session.write(2, "0", "1M").await, "without a node");
    node.spawn();
    node.ready().await;
    assert_eq!(node.service_pid(), service);
    assert!(session.reads(2, "0", "1M").await);
    node.agrees().await;
    // it is supervised as before
    node.kill_service();
    node.service_after(service).await;
    assert!(session.reads(2, "0", "1M").await);
    node.detach("v1", &a.name).await;
    assert!(!session.has_access().await);
    node.agrees().await;
}

#[tokio::test]
async fn a_killed_service_is_started_and_given_everything_back() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    let mut sessions = Vec::new();
    for layout in LAYOUTS {
        node.volume_in(layout, layout).await;
        let at_a = node.attach(layout, &a.name).await;
        node.put(&format!("/v1/volumes/{layout}/attachments/{}", b.name), json!({"mode": "ro"})).await.ok();
        let mut session = a.session(&at_a);
        assert!(session.write(1, "0", "1M").await);
        sessions.push((session, at_a));
    }
    for round in 2..4 {
        let service = node.service_pid();
        node.kill_service();
        node.service_after(service).await;
        node.agrees().await;
        for (session, connection) in &mut sessions {
            assert!(session.reads(round - 1, "0", "1M").await, "the session that was there logs in again");
            assert!(session.write(round, "0", "1M").await);
            assert!(a.reads(connection, round, "0", "1M").await);
            assert!(!b.can_read(connection).await);
        }
    }
}

#[tokio::test]
async fn both_killed_come_back_with_data_rights_and_secrets() {
    let mut node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    node.volume("v1").await;
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    let at_a = node.attach("v1", &a.name).await;
    let at_b = node.attach("v1", &b.name).await;
    assert!(a.write(&at_a, 1, "0", "1M").await);
    node.detach("v1", &b.name).await;
    node.kill();
    node.kill_service();
    node.spawn();
    node.ready().await;
    assert!(a.reads(&at_a, 1, "0", "1M").await, "the secret is the same");
    assert!(!b.can_read(&at_b).await);
    assert_eq!(node.attach("v1", &a.name).await, at_a);
    node.agrees().await;
}

#[tokio::test]
async fn what_an_attach_or_a_detach_left_when_it_was_killed_is_put_right() {
    let mut node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let connection = node.attach("v1", &a.name).await;
    // a target that no record asks for, and a right that no record gives
    let tgtadm = |arguments: &[&str]| {
        let status = std::process::Command::new("/usr/sbin/tgtadm")
            .env("TGT_IPC_SOCKET", node.dir().join("run/tgtd"))
            .args(["-C", "0", "--lld", "iscsi"])
            .args(arguments)
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    let file = node.dir().join("data/volumes/v1.img");
    tgtadm(&["--mode", "target", "--op", "new", "--tid", "77", "-T", "iqn.stranger"]);
    tgtadm(&["--mode", "logicalunit", "--op", "new", "--tid", "77", "--lun", "1", "-b", file.to_str().unwrap()]);
    tgtadm(&["--mode", "target", "--op", "bind", "--tid", "77", "-I", "ALL"]);
    let out = std::process::Command::new("/usr/sbin/tgtadm")
        .env("TGT_IPC_SOCKET", node.dir().join("run/tgtd"))
        .args(["-C", "0", "--lld", "iscsi", "--mode", "target", "--op", "show"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let ours = connection["iqn"].as_str().unwrap();
    let tid = text.lines().find_map(|l| l.strip_prefix("Target ")?.strip_suffix(&format!(": {ours}")).map(str::to_owned)).unwrap();
    tgtadm(&["--mode", "target", "--op", "bind", "--tid", &tid, "-Q", "iqn.evil:x"]);
    node.kill();
    node.spawn();
    node.ready().await;
    node.agrees().await;
    assert!(a.can_read(&connection).await);
}

#[tokio::test]
async fn an_ensure_repairs_what_somebody_changed_by_hand() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let connection = node.attach("v1", &a.name).await;
    node.remove_targets();
    assert!(!a.can_read(&connection).await);
    node.post("/v1/volumes/v1/ensure", json!({})).await.ok();
    assert!(a.can_read(&connection).await);
    node.agrees().await;
}

#[tokio::test]
async fn a_volume_whose_file_is_gone_keeps_no_other_from_its_host() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    for id in ["v1", "v2", "v3"] {
        node.volume_in(id, "target-per-initiator").await;
    }
    let (one, two) = (node.attach("v1", &a.name).await, node.attach("v2", &a.name).await);
    assert!(a.write(&one, 1, "0", "1M").await && a.write(&two, 2, "0", "1M").await);
    let (file, kept) = (node.dir().join("data/volumes/v1.img"), node.dir().join("data/kept"));
    std::fs::rename(&file, &kept).unwrap();
    let service = node.service_pid();
    node.kill_service();
    node.service_after(service).await;
    assert!(a.reads(&two, 2, "0", "1M").await, "the other volume is there");
    node.post("/v1/volumes/v1/ensure", json!({})).await.refused("internal");
    node.attach("v3", &a.name).await;
    node.detach("v2", &a.name).await;
    assert!(!a.can_read(&two).await);
    std::fs::rename(&kept, &file).unwrap();
    node.post("/v1/volumes/v1/ensure", json!({})).await.ok();
    assert!(a.reads(&one, 1, "0", "1M").await);
    node.agrees().await;
}
