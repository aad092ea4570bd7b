//! Versions, headers, renamed paths, the shape of refusals.

use http::Method;
use serde_json::json;
use stowage::api::route::Api;
use support::{Persona, TestApp};

use crate::site::{Site, action, create};

const VERSION: &str = "x-openstack-manila-api-version";

#[tokio::test]
async fn the_root_lists_one_version_and_the_version_shows_itself() {
    let app = TestApp::without_backends().await;
    let root = app.anonymous(Api::Share).rooted_at("");
    let listed = root.get("/").await.expect(300);
    let version = &listed["versions"][0];
    assert_eq!((&version["id"], &version["version"], &version["min_version"]), (&json!("v2.0"), &json!("2.99"), &json!("2.0")));
    assert_eq!(root.get("/v2/").await.expect(200)["versions"][0]["id"], "v2.0");
}

#[tokio::test]
async fn every_answer_has_a_request_id_under_both_names() {
    let app = TestApp::without_backends().await;
    let anonymous = app.anonymous(Api::Share);
    let member = app.share(Persona::Member).await;
    for answer in [
        anonymous.get("/shares").await,
        anonymous.get("/nowhere").await,
        member.get("/nowhere").await,
        member.get("/shares").await,
        member.at("2.100").get("/shares").await,
        member.get("/shares/nothing").await,
        anonymous.rooted_at("").get("/").await,
    ] {
        let id = answer.headers.get("x-compute-request-id").unwrap_or_else(|| panic!("{answer:?}"));
        assert_eq!(Some(id), answer.headers.get("x-openstack-request-id"), "{answer:?}");
    }
}

#[tokio::test]
async fn the_version_is_echoed_by_answers_and_refusals() {
    let app = TestApp::without_backends().await;
    let member = app.share(Persona::Member).await;
    for (client, path, echoed) in [
        (member.clone(), "/shares", "2.0"),
        (member.at("2.51"), "/shares", "2.51"),
        (member.at("2.51"), "/shares/nothing", "2.51"),
        (member.at("2.51"), "/nowhere", "2.51"),
        (member.at("2.100"), "/shares", "2.100"),
        (app.anonymous(Api::Share).at("2.7"), "/shares", "2.7"),
    ] {
        let answer = client.get(path).await;
        assert_eq!(answer.headers.get(VERSION).map(|v| v.to_str().unwrap()), Some(echoed), "{answer:?}");
        assert_eq!(answer.headers.get("vary").unwrap(), "X-OpenStack-Manila-API-Version", "{answer:?}");
    }
}

#[tokio::test]
async fn a_version_that_cannot_be_spoken_is_refused() {
    let app = TestApp::without_backends().await;
    let member = app.share(Persona::Member).await;
    for (version, status) in [("2.100", 406), ("3.0", 406), ("1.0", 406), ("latest", 400), ("2", 400), ("two", 400)] {
        assert_eq!(member.at(version).get("/shares").await.status, status, "{version}");
    }
    // above the root there is no version
    assert_eq!(app.anonymous(Api::Share).rooted_at("").at("nonsense").get("/").await.status, 300);
}

#[tokio::test]
async fn the_experimental_header_is_echoed_and_opens_what_is_experimental() {
    let site = Site::start().await;
    let operator = site.operator().await.at("2.22");
    let id = create(&operator, json!({})).await;
    operator.share_until(&id, "available").await;
    let body = json!({ "reset_task_state": { "task_state": null } });
    operator.post(&action(&id), body.clone()).await.expect(404);
    let curious = operator.with_header("X-OpenStack-Manila-API-Experimental", "True");
    let answer = curious.post(&action(&id), body.clone()).await;
    answer.expect(202);
    assert_eq!(answer.headers.get("x-openstack-manila-api-experimental").unwrap(), "True");
    assert!(operator.get("/shares").await.headers.get("x-openstack-manila-api-experimental").is_none());
    curious.get("/shares").await.expect(200);
    operator.at("2.96").post(&action(&id), body).await.expect(202);
}

#[tokio::test]
async fn urls_may_have_the_project() {
    let app = TestApp::without_backends().await;
    let member = app.share(Persona::Member).await;
    member.rooted_at(&format!("/v2/{}", member.project_id)).get("/shares").await.expect(200);
    let other = member.rooted_at("/v2/11111111111141118111111111111111").get("/shares").await;
    assert_eq!(other.expect(400)["badRequest"]["message"], "Malformed request url");
}

#[tokio::test]
async fn names_with_os_end_at_2_6_and_those_without_begin_at_2_7() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let (old, new) = (operator.at("2.6"), operator.at("2.7"));
    let id = create(&operator, json!({})).await;
    operator.share_until(&id, "available").await;
    old.get("/os-availability-zone").await.expect(200);
    old.get("/availability-zones").await.expect(404);
    new.get("/os-availability-zone").await.expect(404);
    new.get("/availability-zones").await.expect(200);
    let status = json!({ "status": "available" });
    old.post(&action(&id), json!({ "os-reset_status": status })).await.expect(202);
    old.post(&action(&id), json!({ "reset_status": status })).await.expect(404);
    new.post(&action(&id), json!({ "os-reset_status": status })).await.expect(404);
    new.post(&action(&id), json!({ "reset_status": status })).await.expect(202);
    new.post(&action(&id), json!({ "explode": null })).await.expect(400);
}

#[tokio::test]
async fn zones_have_an_id_that_stays() {
    let site = Site::start().await;
    let member = site.member().await;
    let zones = || async { member.get("/availability-zones").await.expect(200)["availability_zones"][0].clone() };
    let zone = zones().await;
    assert_eq!(zone["name"], "nova");
    uuid::Uuid::parse_str(zone["id"].as_str().unwrap()).unwrap();
    assert_eq!(zones().await, zone);
}

#[tokio::test]
async fn a_body_of_an_unknown_kind_is_no_body() {
    let app = TestApp::without_backends().await;
    let member = app.share(Persona::Member).await;
    for (kind, body) in [(Some("text/plain"), "{\"share\": {}}"), (None, ""), (Some("application/json"), "{\"volume\": {}}")] {
        let answer = member.send_raw(Method::POST, "/shares", kind, body.into()).await;
        assert_eq!(answer.expect(422)["computeFault"]["code"], 422);
    }
    let answer = member.send_raw(Method::POST, "/shares", Some("application/json"), "{".into()).await;
    assert_eq!(answer.expect(400)["badRequest"]["message"], "Malformed request body");
}

#[tokio::test]
async fn who_has_no_token_for_a_project_has_no_shares() {
    let app = TestApp::without_backends().await;
    app.anonymous(Api::Share).get("/shares").await.expect(401);
    assert_eq!(app.share(Persona::Reader).await.get("/shares").await.status, 200);
    let body = json!({ "share": { "share_proto": "NFS", "size": 1 } });
    app.share(Persona::Reader).await.post("/shares", body).await.expect(403);
}

#[tokio::test]
async fn the_older_apis_extensions_are_gone() {
    let app = TestApp::without_backends().await;
    let member = app.share(Persona::Member).await;
    assert_eq!(member.get("/extensions").await.expect(200), json!({ "extensions": [] }));
    member.get("/extensions/anything").await.expect(404);
}
