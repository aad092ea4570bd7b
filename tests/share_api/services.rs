//! The services: which there are, and switching them.

use serde_json::json;
use stowage::config::BackendConfig;
use support::Persona;

use crate::site::{Site, backend, create, keys};

#[tokio::test]
async fn there_is_the_scheduler_and_one_service_a_back_end() {
    let site = Site::configured(vec![backend("m", json!({})), backend("n", json!({}))], |_| {}).await;
    let operator = site.operator().await;
    let found = operator.get("/services").await.expect(200)["services"].clone();
    let hosts: Vec<_> = found.as_array().unwrap().iter().map(|s| (s["binary"].as_str().unwrap(), s["host"].as_str().unwrap())).collect();
    assert_eq!(hosts, [("manila-scheduler", "stowage"), ("manila-share", "stowage@m"), ("manila-share", "stowage@n")]);
    let one = &found[1];
    assert_eq!((&one["status"], &one["state"], &one["zone"]), (&json!("enabled"), &json!("up"), &json!("nova")));
    assert!(one["id"].is_u64() && one["id"] != found[2]["id"]);
}

#[tokio::test]
async fn the_path_and_the_fields_come_with_their_versions() {
    let site = Site::start().await;
    let operator = site.operator().await;
    operator.at("2.7").get("/os-services").await.expect(404);
    operator.at("2.6").get("/services").await.expect(404);
    let of = |version: &'static str, path: &'static str| {
        let client = operator.at(version);
        async move { keys(&client.get(path).await.expect(200)["services"][1]).join(" ") }
    };
    let first = "binary host id state status updated_at zone";
    assert_eq!(of("2.6", "/os-services").await, first);
    assert_eq!(of("2.82", "/services").await, first);
    assert_eq!(of("2.83", "/services").await, "binary disabled_reason host id state status updated_at zone");
    assert_eq!(of("2.86", "/services").await, "binary disabled_reason ensuring host id state status updated_at zone");
}

#[tokio::test]
async fn they_are_filtered_by_every_field() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let count = |query: &'static str| {
        let client = operator.clone();
        async move { client.get(&format!("/services?{query}")).await.expect(200)["services"].as_array().unwrap().len() }
    };
    for (query, n) in [
        ("host=stowage@m", 1),
        ("host=other", 0),
        ("binary=manila-share", 1),
        ("binary=manila-scheduler", 1),
        ("binary=other", 0),
        ("zone=nova", 2),
        ("zone=other", 0),
        ("status=enabled", 2),
        ("status=disabled", 0),
        ("state=up", 2),
        ("state=down", 0),
        ("host=stowage@m&binary=manila-share&zone=nova&status=enabled&state=up", 1),
    ] {
        assert_eq!(count(query).await, n, "{query}");
    }
}

#[tokio::test]
async fn a_disabled_back_end_gets_nothing_new_and_says_why() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    let body = json!({ "host": "stowage@m", "binary": "manila-share", "disabled_reason": "moving house" });
    operator.put("/services/disable", body.clone()).await.expect(200);
    let shown = operator.get("/services?host=stowage@m").await.expect(200)["services"][0].clone();
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("disabled"), &json!("moving house")));
    let id = create(&member, json!({})).await;
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error").await;
    operator.put("/services/enable", body).await.expect(200);
    let shown = operator.get("/services?host=stowage@m").await.expect(200)["services"][0].clone();
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("enabled"), &json!(null)));
    site.available().await;
}

#[tokio::test]
async fn only_administrators_see_and_switch_them() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    let body = json!({ "host": "stowage@m", "binary": "manila-share" });
    member.get("/services").await.expect(403);
    member.put("/services/disable", body.clone()).await.expect(403);
    operator.put("/services/disable", json!({ "host": "stowage@x", "binary": "manila-share" })).await.expect(404);
    operator.put("/services/disable", json!({ "host": "stowage@m", "binary": "manila-data" })).await.expect(404);
    operator.put("/services/disable", json!({ "host": "stowage@m" })).await.expect(400);
    operator.at("2.6").put("/os-services/disable", body.clone()).await.expect(200);
    operator.at("2.6").put("/os-services/enable", body).await.expect(200);
}

#[tokio::test]
async fn each_api_switches_its_own_back_ends() {
    let site = Site::configured(vec![backend("m", json!({})), BackendConfig::new("volumes", "memory")], |_| {}).await;
    let (shares, volumes) = (site.operator().await, site.block(Persona::Admin).await);
    let enabled = async |host: &str| site.app().store.backend(host).await.unwrap().unwrap();
    let body = json!({ "host": "stowage@m", "binary": "cinder-volume", "disabled_reason": "x" });
    for path in ["disable", "disable-log-reason", "enable"] {
        volumes.put(&format!("/os-services/{path}"), body.clone()).await.expect(404);
    }
    for path in ["freeze", "thaw"] {
        volumes.put(&format!("/os-services/{path}"), json!({ "host": "stowage@m" })).await.expect(400);
    }
    volumes.put("/os-hosts/stowage@m", json!({ "status": "disable" })).await.expect(404);
    let untouched = enabled("stowage@m").await;
    assert!(untouched.enabled && !untouched.frozen, "{untouched:?}");
    let body = json!({ "host": "stowage@volumes", "binary": "manila-share", "disabled_reason": "x" });
    for path in ["disable", "enable"] {
        shares.put(&format!("/services/{path}"), body.clone()).await.expect(404);
    }
    assert!(enabled("stowage@volumes").await.enabled);
}
