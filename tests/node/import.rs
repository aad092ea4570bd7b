//! Volumes that somebody else made.

use std::fs;

use serde_json::json;
use support::{initiator::Initiator, node::Node};

#[tokio::test]
async fn a_file_is_adopted_with_its_content_and_released_with_it() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    fs::write(node.dir().join("data/import/disk.raw"), vec![0x5a; 3 << 20]).unwrap();
    let files = node.get("/v1/import").await.ok();
    assert_eq!(files["files"][0], json!({"name": "disk.raw", "size_bytes": 3 << 20, "size_gib": 1, "unsafe_because": null}));
    let body = json!({"source": {"import": "disk.raw"}});
    let made = node.put("/v1/volumes/v1", body.clone()).await.ok();
    assert_eq!(made["size_gib"], 1);
    assert_eq!(node.put("/v1/volumes/v1", body.clone()).await.ok()["id"], "v1", "a repeat, though the file has gone from the folder");
    node.put("/v1/volumes/v2", body).await.refused("not-found");
    let connection = node.attach("v1", &a.name).await;
    assert!(a.reads(&connection, 0x5a, "0", "3M").await);
    assert!(a.reads(&connection, 0, "3M", "1M").await);
    assert!(a.write(&connection, 0x11, "0", "1M").await);
    node.detach("v1", &a.name).await;
    for _ in 0..2 {
        assert_eq!(node.post("/v1/volumes/v1/release", json!({})).await.ok(), json!({"import": "v1.raw"}));
    }
    node.get("/v1/volumes/v1").await.refused("not-found");
    node.agrees().await;
    node.put("/v1/volumes/v3", json!({"size_gib": 2, "source": {"import": "v1.raw"}})).await.ok();
    let connection = node.attach("v3", &a.name).await;
    assert!(a.reads(&connection, 0x11, "0", "1M").await && a.reads(&connection, 0x5a, "1M", "2M").await);
}

#[tokio::test]
async fn a_release_overwrites_nothing() {
    let node = Node::start().await;
    node.volume("v1").await;
    fs::write(node.dir().join("data/import/v1.raw"), "mine").unwrap();
    node.post("/v1/volumes/v1/release", json!({})).await.refused("conflict");
    assert_eq!(fs::read_to_string(node.dir().join("data/import/v1.raw")).unwrap(), "mine");
    node.agrees().await;
}

#[tokio::test]
async fn a_file_becomes_one_volume_also_when_several_ask_at_once() {
    let node = Node::start().await;
    for round in 0..5 {
        fs::write(node.dir().join("data/import/disk.raw"), vec![0x5a; 1 << 20]).unwrap();
        let paths: Vec<String> = (0..8).map(|n| format!("/v1/volumes/v{round}-{n}")).collect();
        let asked = paths.iter().map(|path| node.put(path, json!({"source": {"import": "disk.raw"}})));
        let made = futures::future::join_all(asked).await.into_iter().filter(|a| a.status.is_success()).count();
        assert_eq!(made, 1);
    }
    node.agrees().await;
}
