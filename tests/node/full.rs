//! A full disk.

use std::{fs, path::PathBuf, process::Command};

use http::StatusCode;
use serde_json::json;
use support::{initiator::Initiator, node::Node};

#[tokio::test]
async fn a_full_disk_refuses_what_is_new_leaves_nothing_behind_and_still_deletes() {
    let node = Node::with(&["--loop-size", "400M"]).await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    let connection = node.attach("v1", &a.name).await;
    // thin: the volume is larger than the disk, and the write that does not fit fails at the initiator
    let mut offset = 0;
    while a.write(&connection, 3, &format!("{offset}M"), "32M").await {
        offset += 32;
        assert!(offset < 1024);
    }
    for (path, body) in [
        ("/v1/volumes/v2", json!({"size_gib": 1})),
        ("/v1/volumes/v3", json!({"size_gib": 1, "source": {"volume": "v1"}})),
        ("/v1/snapshots/s2", json!({"volume": "v1"})),
        ("/v1/volumes/v1/size", json!({"size_gib": 2})),
    ] {
        node.put(path, body).await.refused("exhausted");
    }
    node.agrees().await;
    assert!(a.reads(&connection, 3, "0", "32M").await, "what was written is there");
    node.detach("v1", &a.name).await;
    for path in ["/v1/snapshots/s1", "/v1/volumes/v1"] {
        assert_eq!(node.delete(path).await.status, StatusCode::NO_CONTENT);
    }
    assert!(node.free_bytes().await > 200 << 20);
    node.volume("v2").await;
    node.agrees().await;
}

/// A file system of its own under a folder.
struct Small(PathBuf);

impl Small {
    fn at(path: PathBuf, size: &str) -> Self {
        fs::create_dir_all(&path).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(&path).status().unwrap();
        assert!(mounted.success());
        Self(path)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test]
async fn records_that_give_room_back_are_written_where_no_other_can_be() {
    let mut node = Node::prepare(&["--loop-size", "1G"]);
    let small = Small::at(node.dir().join("state"), "size=6m,mode=0700");
    node.spawn();
    node.ready().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    node.attach("v1", &a.name).await;
    // the rest is somebody else's
    let filled = Command::new("dd").args(["if=/dev/zero", "bs=4k"]).arg(format!("of={}", small.0.join("full").display())).output().unwrap();
    assert!(!filled.status.success(), "it is full");
    node.put("/v1/volumes/v2", json!({"size_gib": 1})).await.refused("exhausted");
    assert!(small.0.join("ballast").exists());
    node.detach("v1", &a.name).await;
    assert!(!small.0.join("ballast").exists());
    for path in ["/v1/snapshots/s1", "/v1/volumes/v1"] {
        assert_eq!(node.delete(path).await.status, StatusCode::NO_CONTENT);
    }
    node.agrees().await;
    fs::remove_file(small.0.join("full")).unwrap();
    node.kill();
    node.spawn();
    node.ready().await;
    assert!(small.0.join("ballast").exists(), "it is made again");
    node.agrees().await;
    node.stop().await;
}
