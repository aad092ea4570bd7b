//! What `docs/node-api.md` promises, without data.

use http::{Method, StatusCode};
use serde_json::json;
use support::node::Node;

#[tokio::test]
async fn nothing_is_answered_without_the_token_but_health() {
    let node = Node::start().await;
    let bare = reqwest::Client::new();
    assert_eq!(bare.get(format!("{}/healthz", node.url)).send().await.unwrap().status(), StatusCode::OK);
    for path in ["/v1/node", "/v1/volumes", "/v1/capacity", "/v1/openapi.json", "/v1/nothing", "/"] {
        for token in [None, Some("wrong"), Some("")] {
            let mut request = bare.get(format!("{}{path}", node.url));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path} {token:?}");
        }
    }
}

#[tokio::test]
async fn a_volume_lives_and_every_step_may_be_repeated() {
    let node = Node::start().await;
    let body = json!({"size_gib": 1, "layout": "target-per-initiator"});
    let made = node.put("/v1/volumes/v1", body.clone()).await.ok();
    assert_eq!(made["size_gib"], 1);
    assert_eq!(made["layout"], "target-per-initiator");
    assert_eq!(node.put("/v1/volumes/v1", body).await.ok(), made);
    assert_eq!(node.get("/v1/volumes/v1").await.ok(), made);
    node.put("/v1/volumes/v1", json!({"size_gib": 2})).await.refused("conflict");
    for _ in 0..2 {
        assert_eq!(node.put("/v1/volumes/v1/size", json!({"size_gib": 3})).await.ok()["size_gib"], 3);
    }
    node.put("/v1/volumes/v1/size", json!({"size_gib": 2})).await.refused("data-loss-risk");
    for _ in 0..2 {
        assert_eq!(node.put("/v1/volumes/v1/layout", json!({"layout": "target-per-volume"})).await.ok()["layout"], "target-per-volume");
    }
    // the repeat of a create that was extended and retyped since is answered with what is there now
    let repeated = node.put("/v1/volumes/v1", json!({"size_gib": 1})).await.ok();
    assert_eq!(repeated["size_gib"], 3);
    for _ in 0..2 {
        assert_eq!(node.delete("/v1/volumes/v1").await.status, StatusCode::NO_CONTENT);
    }
    node.get("/v1/volumes/v1").await.refused("not-found");
    node.agrees().await;
}

#[tokio::test]
async fn lists_come_in_pages_by_id() {
    let node = Node::start().await;
    for n in [3, 1, 2] {
        node.volume(&format!("v{n}")).await;
        node.put(&format!("/v1/snapshots/s{n}"), json!({"volume": format!("v{n}")})).await.ok();
    }
    let first = node.get("/v1/volumes?limit=2").await.ok();
    assert_eq!(first["volumes"].as_array().unwrap().iter().map(|v| v["id"].as_str().unwrap()).collect::<Vec<_>>(), ["v1", "v2"]);
    assert_eq!(first["next"], "v2");
    let rest = node.get("/v1/volumes?limit=2&after=v2").await.ok();
    assert_eq!(rest["volumes"][0]["id"], "v3");
    assert!(rest["next"].is_null());
    let of_one = node.get("/v1/snapshots?volume=v2").await.ok();
    assert_eq!(of_one["snapshots"].as_array().unwrap().len(), 1);
    for wrong in ["limit=0", "limit=1001", "limit=x", "after=..", "unknown=1", "volume=v1"] {
        node.get(&format!("/v1/volumes?{wrong}")).await.refused("invalid");
    }
}

#[tokio::test]
async fn what_is_attached_is_not_deleted_reverted_retyped_or_released() {
    let node = Node::start().await;
    node.volume("v1").await;
    node.put("/v1/snapshots/s1", json!({"volume": "v1"})).await.ok();
    let connection = node.attach("v1", "iqn.x:a").await;
    assert_eq!(connection["auth"]["method"], "CHAP");
    node.delete("/v1/volumes/v1").await.refused("busy");
    node.post("/v1/volumes/v1/revert", json!({"snapshot": "s1"})).await.refused("busy");
    node.put("/v1/volumes/v1/layout", json!({"layout": "target-per-initiator"})).await.refused("busy");
    node.post("/v1/volumes/v1/release", json!({})).await.refused("busy");
    node.agrees().await;
    assert_eq!(node.delete("/v1/volumes/v1/attachments").await.status, StatusCode::NO_CONTENT);
    node.agrees().await;
    node.delete("/v1/volumes/v1").await.ok();
    // the snapshot shares nothing but blocks
    node.put("/v1/volumes/v2", json!({"size_gib": 1, "source": {"snapshot": "s1"}})).await.ok();
}

#[tokio::test]
async fn a_secret_is_in_the_answer_to_an_attach_and_nowhere_else() {
    let node = Node::start().await;
    node.volume("v1").await;
    let connection = node.attach("v1", "iqn.x:a").await;
    let password = connection["auth"]["password"].as_str().unwrap();
    assert_eq!(password.len(), 16);
    for path in ["/v1/volumes", "/v1/volumes/v1", "/v1/volumes/v1/attachments", "/v1/volumes/v1/attachments/iqn.x:a"] {
        assert!(!node.get(path).await.ok().to_string().contains(password), "{path}");
    }
    assert!(!node.log().contains(password));
    assert!(!node.log().contains(node.token()));
    let service_log = std::fs::read_to_string(node.dir().join("run/tgtd.log")).unwrap();
    assert!(!service_log.contains(password));
    use std::os::unix::fs::PermissionsExt;
    for file in ["state/volumes/v1.json", "token"] {
        assert_eq!(std::fs::metadata(node.dir().join(file)).unwrap().permissions().mode() & 0o077, 0, "{file}");
    }
    assert_eq!(std::fs::metadata(node.dir()).unwrap().permissions().mode() & 0o077, 0);
}

#[tokio::test]
async fn the_api_describes_itself() {
    let node = Node::start().await;
    let document = node.get("/v1/openapi.json").await.ok();
    assert!(document["paths"]["/v1/volumes/{id}"]["put"]["summary"].is_string());
    let about = node.get("/v1/node").await.ok();
    assert_eq!(about["api"], "v1");
    assert_eq!(about["features"]["online_extend"], true);
    assert_eq!(about["portals"], json!([node.portal]));
}

#[tokio::test]
async fn a_refusal_has_a_kind_and_a_sentence() {
    let node = Node::start().await;
    let answer = node.get("/v1/volumes/none").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.body, json!({"error": {"kind": "not-found", "message": "there is no volume none"}}));
    node.get("/v1/unknown").await.refused("unsupported");
    let wrong_method = node.send(Method::PATCH, "/v1/volumes/v1", Some(json!({}))).await;
    assert_eq!(wrong_method.status, StatusCode::METHOD_NOT_ALLOWED);
    wrong_method.refused("invalid");
}
