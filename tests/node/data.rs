//! Bytes: in through one path, out through another.

use serde_json::json;
use support::{initiator::Initiator, node::Node};

#[tokio::test]
async fn two_initiators_read_each_others_writes_in_both_layouts() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    for layout in ["target-per-volume", "target-per-initiator"] {
        node.volume_in(layout, layout).await;
        let (at_a, at_b) = (node.attach(layout, &a.name).await, node.attach(layout, &b.name).await);
        assert!(a.write(&at_a, 0xab, "0", "4M").await);
        assert!(b.reads(&at_b, 0xab, "0", "4M").await, "{layout}");
        assert!(b.write(&at_b, 0xcd, "2M", "1M").await);
        assert!(a.reads(&at_a, 0xcd, "2M", "1M").await, "{layout}");
        assert!(a.reads(&at_a, 0, "512M", "1M").await, "what was not written reads as zeros");
    }
    node.agrees().await;
}

#[tokio::test]
async fn snapshots_clones_and_reverts_have_the_content_of_their_moment() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let mut session = a.session(&node.attach("v1", &a.name).await);
    assert!(session.write(1, "0", "2M").await);
    // taken and cloned while the volume is written to
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    assert!(session.write(2, "0", "1M").await);
    node.put("/v1/volumes/clone", json!({"size_gib": 1, "source": {"volume": "v1"}})).await.ok();
    assert!(session.write(3, "0", "1M").await);
    // a repeat is the snapshot as it was first taken
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    node.put("/v1/volumes/copy", json!({"size_gib": 2, "source": {"snapshot": "s1"}})).await.ok();

    let copy = node.attach("copy", &a.name).await;
    assert!(a.reads(&copy, 1, "0", "2M").await);
    assert_eq!(a.length(&copy).await, "2 GiB");
    let clone = node.attach("clone", &a.name).await;
    assert!(a.reads(&clone, 2, "0", "1M").await);
    assert!(a.reads(&clone, 1, "1M", "1M").await);
    assert!(a.write(&clone, 9, "0", "1M").await);
    assert!(session.reads(3, "0", "1M").await, "a write to the clone is not in its source");
    drop(session);

    node.detach("v1", &a.name).await;
    for _ in 0..2 {
        node.post("/v1/volumes/v1/revert", json!({"snapshot": "s1"})).await.ok();
        let reverted = node.attach("v1", &a.name).await;
        assert!(a.reads(&reverted, 1, "0", "2M").await);
        assert!(a.write(&reverted, 4, "0", "1M").await);
        node.detach("v1", &a.name).await;
    }
    node.put("/v1/volumes/small", json!({"size_gib": 1, "source": {"volume": "copy"}})).await.refused("invalid");
    node.agrees().await;
}

#[tokio::test]
async fn a_revert_after_an_extend_keeps_the_size() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    node.put("/v1/volumes/v1/size", json!({"size_gib": 2})).await.ok();
    assert_eq!(node.post("/v1/volumes/v1/revert", json!({"snapshot": "s1"})).await.ok()["size_gib"], 2);
    assert_eq!(a.length(&node.attach("v1", &a.name).await).await, "2 GiB");
}

#[tokio::test]
async fn an_extend_under_io_fails_no_command_and_a_new_log_in_sees_the_size() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    for layout in ["target-per-volume", "target-per-initiator"] {
        node.volume_in(layout, layout).await;
        node.volume_in(&format!("{layout}-other"), layout).await;
        let at_a = node.attach(layout, &a.name).await;
        let other = node.attach(&format!("{layout}-other"), &a.name).await;
        let at_b = node.attach(layout, &b.name).await;
        let (mut writer, mut reader, mut beside) = (a.session(&at_a), b.session(&at_b), a.session(&other));
        assert!(reader.reads(0, "0", "1M").await && beside.write(8, "0", "1M").await);
        let load = tokio::spawn(async move {
            for n in 0..120_u8 {
                assert!(writer.write(n + 1, &format!("{n}M"), "1M").await, "write {n}");
            }
            writer
        });
        for size in 2..=5 {
            assert_eq!(node.put(&format!("/v1/volumes/{layout}/size"), json!({"size_gib": size})).await.ok()["size_gib"], size);
        }
        let mut writer = load.await.unwrap();
        // the sessions that were there go on
        for n in [0, 57, 119_u8] {
            assert!(writer.reads(n + 1, &format!("{n}M"), "1M").await);
            assert!(reader.reads(n + 1, &format!("{n}M"), "1M").await);
        }
        assert!(beside.reads(8, "0", "1M").await);
        drop((writer, reader));
        assert_eq!(a.length(&at_a).await, "5 GiB", "{layout}");
        assert!(a.write(&at_a, 0xee, "4500M", "1M").await);
        assert!(b.reads(&at_b, 0xee, "4500M", "1M").await);
        node.delete(&format!("/v1/volumes/{layout}/attachments")).await.ok();
    }
    node.agrees().await;
}

#[tokio::test]
async fn a_delete_gives_the_space_back() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("v1").await;
    let before = node.free_bytes().await;
    let connection = node.attach("v1", &a.name).await;
    assert!(a.write(&connection, 5, "0", "128M").await);
    let full = node.free_bytes().await;
    assert!(before - full > 120 << 20, "{before} {full}");
    let volume = node.get("/v1/volumes/v1").await.ok();
    assert!(volume["allocated_bytes"].as_u64().unwrap() >= 128 << 20);
    node.detach("v1", &a.name).await;
    node.delete("/v1/volumes/v1").await.ok();
    let after = node.free_bytes().await;
    assert!(before - after < 8 << 20, "{before} {after}");
    assert_eq!(node.get("/v1/capacity").await.ok()["provisioned_bytes"], 0);
}

#[tokio::test]
async fn a_read_only_attachment_reads_and_does_not_write_and_another_initiator_does() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    for layout in ["target-per-volume", "target-per-initiator"] {
        node.volume_in(layout, layout).await;
        let path = format!("/v1/volumes/{layout}/attachments/{}", b.name);
        let at_a = node.attach(layout, &a.name).await;
        let at_b = node.put(&path, json!({"mode": "ro"})).await.ok()["connection"].clone();
        assert!(a.write(&at_a, 6, "0", "1M").await);
        assert!(b.reads(&at_b, 6, "0", "1M").await);
        assert!(!b.write(&at_b, 7, "0", "1M").await, "{layout}");
        assert!(a.reads(&at_a, 6, "0", "1M").await);
        // a change of mode is applied
        let at_b = node.put(&path, json!({"mode": "rw"})).await.ok()["connection"].clone();
        assert!(b.write(&at_b, 7, "0", "1M").await, "{layout}");
        let at_b = node.put(&path, json!({"mode": "ro"})).await.ok()["connection"].clone();
        assert!(!b.write(&at_b, 8, "0", "1M").await, "{layout}");
        node.agrees().await;
    }
}

#[tokio::test]
async fn a_change_of_mode_under_io_fails_no_read_and_holds_for_the_sessions_that_are_open() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    for layout in ["target-per-volume", "target-per-initiator"] {
        node.volume_in(layout, layout).await;
        let path = format!("/v1/volumes/{layout}/attachments/{}", a.name);
        let set = async |mode: &str| node.put(&path, json!({ "mode": mode })).await.ok()["connection"].clone();
        let at = set("rw").await;
        let (mut session, mut reader) = (a.session(&at), a.session(&at));
        assert!(session.write(1, "0", "1M").await);
        let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
        let load = tokio::spawn(async move {
            let mut reads = 0;
            while stopped.try_recv().is_err() {
                assert!(reader.reads(1, "0", "1M").await, "read {reads}");
                reads += 1;
            }
            reads
        });
        for round in 2..12 {
            assert_eq!(set("ro").await, at, "{layout}");
            assert!(!session.write(9, "1M", "1M").await, "{layout}");
            assert_eq!(set("rw").await, at, "{layout}");
            assert!(session.write(round, "1M", "1M").await && session.reads(round, "1M", "1M").await, "{layout}");
        }
        stop.send(()).unwrap();
        assert!(load.await.unwrap() > 0, "{layout}");
        node.agrees().await;
        drop(session);
        node.delete(&format!("/v1/volumes/{layout}/attachments")).await.ok();
    }
}
