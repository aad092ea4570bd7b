//! Generations: what is older than what was seen changes nothing.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use support::{initiator::Initiator, node::Node};

const HIGH: u64 = 1 << 40;

#[tokio::test]
async fn a_lower_generation_is_refused_by_every_verb_of_a_volume() {
    let node = Node::start().await;
    node.send_as(HIGH, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok();
    node.send_as(HIGH, Method::PUT, "/v1/snapshots/s1", Some(json!({"volume": "v1"}))).await.ok();
    for (method, path, body) in [
        (Method::PUT, "/v1/volumes/v1", json!({"size_gib": 1})),
        (Method::DELETE, "/v1/volumes/v1", Value::Null),
        (Method::PUT, "/v1/volumes/v1/size", json!({"size_gib": 2})),
        (Method::PUT, "/v1/volumes/v1/layout", json!({"layout": "target-per-initiator"})),
        (Method::POST, "/v1/volumes/v1/revert", json!({"snapshot": "s1"})),
        (Method::POST, "/v1/volumes/v1/ensure", json!({})),
        (Method::POST, "/v1/volumes/v1/release", json!({})),
        (Method::PUT, "/v1/snapshots/s1", json!({"volume": "v1"})),
        (Method::DELETE, "/v1/snapshots/s1", Value::Null),
    ] {
        let body = Some(body).filter(|b| !b.is_null());
        node.send_as(HIGH - 1, method, path, body).await.refused("stale-generation");
    }
    assert_eq!(node.get("/v1/volumes/v1").await.ok()["size_gib"], 1);
    node.send_as(HIGH, Method::PUT, "/v1/volumes/v1/size", Some(json!({"size_gib": 2}))).await.ok();
    node.agrees().await;
}

#[tokio::test]
async fn a_late_create_does_not_bring_back_what_was_deleted() {
    let mut node = Node::start().await;
    node.send_as(5, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok();
    node.send_as(9, Method::DELETE, "/v1/volumes/v1", None).await.ok();
    // this one was deleted before its create arrived
    node.send_as(9, Method::DELETE, "/v1/volumes/v2", None).await.ok();
    node.send_as(9, Method::DELETE, "/v1/snapshots/s1", None).await.ok();
    for restart in [false, true] {
        if restart {
            node.kill();
            node.spawn();
            node.ready().await;
        }
        for id in ["v1", "v2"] {
            node.send_as(8, Method::PUT, &format!("/v1/volumes/{id}"), Some(json!({"size_gib": 1}))).await.refused("stale-generation");
        }
        node.send_as(8, Method::PUT, "/v1/snapshots/s1", Some(json!({"volume": "v1"}))).await.refused("stale-generation");
    }
    // somebody newer may use the id again
    node.send_as(10, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 2}))).await.ok();
    node.agrees().await;
}

#[tokio::test]
async fn a_create_that_was_refused_keeps_older_ones_out() {
    let node = Node::start().await;
    node.send_as(9, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1, "source": {"volume": "none"}}))).await.refused("not-found");
    node.send_as(8, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.refused("stale-generation");
    node.send_as(9, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok();
}

#[tokio::test]
async fn an_attachment_is_fenced_apart_from_its_volume_and_from_other_initiators() {
    let node = Node::start().await;
    node.send_as(HIGH, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok();
    let a = "/v1/volumes/v1/attachments/iqn.x:a";
    node.send_as(10, Method::PUT, a, Some(json!({}))).await.ok();
    // two attachments of one host arrive out of order: the older one asks for what is there
    node.send_as(9, Method::PUT, a, Some(json!({}))).await.ok();
    node.send_as(9, Method::PUT, a, Some(json!({"mode": "ro"}))).await.refused("stale-generation");
    node.send_as(9, Method::DELETE, a, None).await.refused("stale-generation");
    node.send_as(9, Method::DELETE, "/v1/volumes/v1/attachments", None).await.refused("stale-generation");
    node.send_as(3, Method::PUT, "/v1/volumes/v1/attachments/iqn.x:b", Some(json!({}))).await.ok();
    node.send_as(12, Method::DELETE, a, None).await.ok();
    node.send_as(11, Method::PUT, a, Some(json!({}))).await.refused("stale-generation");
    // a detach of what never was keeps its attach out
    let c = "/v1/volumes/v1/attachments/iqn.x:c";
    assert_eq!(node.send_as(5, Method::DELETE, c, None).await.status, StatusCode::NO_CONTENT);
    node.send_as(4, Method::PUT, c, Some(json!({}))).await.refused("stale-generation");
    node.send_as(6, Method::PUT, c, Some(json!({}))).await.ok();
    node.agrees().await;
}

#[tokio::test]
async fn a_replayed_detach_does_not_cut_a_newer_session() {
    let node = Node::start().await;
    node.volume("v1").await;
    let a = Initiator::new("a");
    let path = format!("/v1/volumes/v1/attachments/{}", a.name);
    node.send_as(10, Method::PUT, &path, Some(json!({}))).await.ok();
    node.send_as(11, Method::DELETE, &path, None).await.ok();
    let connection = node.send_as(12, Method::PUT, &path, Some(json!({}))).await.ok()["connection"].clone();
    let mut session = a.session(&connection);
    assert!(session.write(1, "0", "1M").await);
    node.send_as(11, Method::DELETE, &path, None).await.refused("stale-generation");
    assert!(session.reads(1, "0", "1M").await);
}

#[tokio::test]
async fn a_generation_is_one_decimal_number() {
    let node = Node::start().await;
    for wrong in ["", "-1", "1.0", "x", "0x1", "18446744073709551616", " 1 2"] {
        let request = node.request(Method::PUT, "/v1/volumes/v1").json(&json!({"size_gib": 1})).header("Stowage-Generation", wrong);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::BAD_REQUEST, "{wrong:?}");
    }
    let request = node.request(Method::PUT, "/v1/volumes/v1").json(&json!({"size_gib": 1}));
    assert_eq!(request.try_clone().unwrap().send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    let twice = request.header("Stowage-Generation", "1").header("Stowage-Generation", "2");
    assert_eq!(twice.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    node.send_as(u64::MAX, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok();
    node.send_as(u64::MAX, Method::DELETE, "/v1/volumes/v1", None).await.ok();
}

#[tokio::test]
async fn a_detach_from_all_fences_initiators_that_were_never_seen() {
    let node = Node::start().await;
    let (all, a) = ("/v1/volumes/v1/attachments", "/v1/volumes/v1/attachments/iqn.x:a");
    // before the volume is there: its attach may be on its way
    assert_eq!(node.send_as(10, Method::DELETE, all, None).await.status, StatusCode::NO_CONTENT);
    node.send_as(1, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok();
    node.send_as(9, Method::PUT, a, Some(json!({}))).await.refused("stale-generation");
    node.send_as(9, Method::DELETE, all, None).await.refused("stale-generation");
    node.send_as(10, Method::DELETE, all, None).await;
    node.send_as(11, Method::PUT, a, Some(json!({}))).await.ok();
    node.send_as(10, Method::DELETE, all, None).await.refused("stale-generation");
    node.agrees().await;
}
