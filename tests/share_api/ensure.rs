//! Ensuring shares on demand: what may be asked, who may ask, and what users see. By the rows of the specification.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    driver::{Call, ErrorKind},
    store::sql::backends::BackendKind,
};
use support::{Answer, Client, Persona};

use crate::site::{Site, action, allow, backend};

pub const HOST: &str = "stowage@m";

/// As upstream's server takes it.
async fn nested(client: &Client) -> Answer {
    client.post("/services/ensure-shares", json!({ "ensure_shares": { "host": HOST } })).await
}

/// As the specification has it: refuses what is in its way.
pub async fn strict(client: &Client) -> Answer {
    client.post("/services/ensure", json!({ "host": HOST })).await
}

/// As released clients send it.
pub async fn patient(client: &Client) -> Answer {
    client.post("/services/ensure-shares", json!({ "host": HOST })).await
}

/// The run that is under way, or the last one.
pub async fn run(site: &Site) -> Value {
    site.admin(Persona::Admin).await.get(&format!("/backends/{HOST}/ensure")).await.expect(200)["ensure"].clone()
}

/// Waits until no run is under way and none follows; the last one.
pub async fn ended(site: &Site) -> Value {
    support::wait::until("the run to end", || async {
        let run = run(site).await;
        (run.is_object() && run["state"] != "running" && run["repeats"] == false).then_some(run)
    })
    .await
}

pub async fn named(site: &Site, name: &str) -> String {
    site.available_with(json!({ "name": name })).await
}

async fn ensuring(client: &Client, host: &str) -> Value {
    let found = client.get(&format!("/services?host={host}")).await.expect(200);
    found["services"][0]["ensuring"].clone()
}

#[tokio::test]
async fn b1_both_urls_are_accepted_and_answer_nothing() {
    let site = Site::start().await;
    let operator = site.operator().await;
    for answer in [strict(&operator).await, patient(&operator).await, nested(&operator).await] {
        assert_eq!(answer.expect(202), Value::Null);
        ended(&site).await;
    }
}

#[tokio::test]
async fn b1_what_is_no_such_request_is_refused() {
    let site = Site::start().await;
    let operator = site.operator().await;
    for bad in [json!({}), json!({ "host": 1 }), json!({ "host": "" }), json!({ "host": HOST, "more": 1 })] {
        assert_eq!(operator.post("/services/ensure", bad.clone()).await.status, 400, "{bad}");
        assert_eq!(operator.post("/services/ensure-shares", bad.clone()).await.status, 400, "{bad}");
        let nested = json!({ "ensure_shares": bad });
        assert_eq!(operator.post("/services/ensure-shares", nested.clone()).await.status, 400, "{nested}");
    }
    let beside = json!({ "ensure_shares": { "host": HOST }, "more": 1 });
    operator.post("/services/ensure-shares", beside).await.expect(400);
}

#[tokio::test]
async fn b1_older_versions_and_unknown_hosts_are_not_found() {
    let site = Site::configured(vec![backend("m", json!({})), stowage::config::BackendConfig::new("volumes", "memory")], |_| {}).await;
    let operator = site.operator().await;
    strict(&operator.at("2.85")).await.expect(404);
    patient(&operator.at("2.85")).await.expect(404);
    for host in ["stowage@other", "stowage", "stowage@volumes", "stowage@m#p1"] {
        operator.post("/services/ensure", json!({ "host": host })).await.expect(404);
        operator.post("/services/ensure-shares", json!({ "ensure_shares": { "host": host } })).await.expect(404);
    }
}

#[tokio::test]
async fn b1_a_disabled_service_is_a_conflict() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let body = json!({ "host": HOST, "binary": "manila-share", "disabled_reason": "moving house" });
    operator.put("/services/disable", body.clone()).await.expect(200);
    for answer in [strict(&operator).await, patient(&operator).await] {
        assert!(answer.fault(409).contains("moving house"), "{answer:?}");
    }
    operator.put("/services/enable", body).await.expect(200);
    strict(&operator).await.expect(202);
}

#[tokio::test]
async fn b1_a_service_that_is_down_is_a_conflict() {
    let site = Site::start().await;
    let operator = site.operator().await;
    // with something on it, a back end stays known when it leaves the configuration
    site.available().await;
    let mut tx = site.app().store.begin().await.unwrap();
    tx.retire_backends_except(BackendKind::Share, &[]).await.unwrap();
    tx.commit().await.unwrap();
    for answer in [strict(&operator).await, patient(&operator).await] {
        assert!(answer.fault(409).contains("it is down"), "{answer:?}");
    }
}

#[tokio::test]
async fn b1_a_service_whose_driver_is_quarantined_is_a_conflict() {
    let site = Site::faulty(&["ensure.fingerprint=trap"]).await;
    let operator = site.operator().await;
    support::wait::until("the quarantine", || async {
        let driver = site.app().drivers.backend(HOST).unwrap();
        let call = Call::internal("fingerprint", Duration::from_secs(10));
        let error = driver.need_ensure().unwrap().fingerprint(&call).await.unwrap_err();
        (error.kind == ErrorKind::Quarantined).then_some(())
    })
    .await;
    for answer in [strict(&operator).await, patient(&operator).await] {
        answer.expect(409);
    }
    assert_eq!(run(&site).await, Value::Null, "nothing was begun");
}

#[tokio::test]
async fn b2_of_many_busy_shares_the_first_twenty_are_named_and_all_are_counted() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let shares = futures::future::join_all((0..22).map(|_| site.available())).await;
    for id in &shares {
        site.tell(id, "migrating").await;
    }
    let refused = strict(&operator).await.fault(409);
    let named = shares.iter().filter(|id| refused.contains(id.as_str())).count();
    assert!(refused.starts_with("22 shares") && named == 20, "{refused}");
}

#[tokio::test]
async fn b2_busy_shares_are_named_to_whoever_asks_strictly() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let id = site.available().await;
    site.tell(&id, "migrating").await;
    let refused = strict(&operator).await.fault(409);
    assert!(refused.contains(&id) && refused.contains("migrating") && refused.starts_with("1 shares"), "{refused}");
    assert_eq!(run(&site).await, Value::Null, "nothing was begun");
}

#[tokio::test]
async fn b2_while_a_run_is_under_way_one_url_refuses_and_the_other_repeats_once() {
    let site = Site::faulty(&["ensure.ensure-shares#1=delay:1500"]).await;
    let operator = site.operator().await;
    site.available().await;
    patient(&operator).await.expect(202);
    strict(&operator).await.expect(409);
    let first = run(&site).await;
    patient(&operator).await.expect(202);
    patient(&operator).await.expect(202);
    let last = ended(&site).await;
    assert_eq!(last["cause"], "repeat");
    assert_ne!(last["run_id"], first["run_id"]);
}

#[tokio::test]
async fn b2_busy_shares_are_put_off_and_named_in_the_end() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let (busy, good) = (site.available().await, site.available().await);
    site.tell(&busy, "migrating").await;
    patient(&operator).await.expect(202);
    let run = ended(&site).await;
    assert_eq!((&run["skipped"], &run["unchanged"]), (&json!(1), &json!(1)), "{run}");
    assert_eq!((&run["shares"][0]["share_id"], &run["shares"][0]["state"]), (&json!(busy), &json!("skipped")));
    let member = site.member().await;
    assert_eq!(member.get(&format!("/shares/{busy}")).await.expect(200)["share"]["status"], "migrating", "it is as it was");
    member.share_until(&good, "available").await;
}

#[tokio::test]
async fn b3_the_service_says_that_it_is_ensuring_and_no_other_does() {
    let faults = json!({ "faults": ["ensure.ensure-shares=delay:1500"] });
    let site = Site::configured(vec![backend("m", faults), backend("n", json!({ "pools": ["p1:10"] }))], |_| {}).await;
    let operator = site.operator().await;
    site.available().await;
    assert_eq!(ensuring(&operator, HOST).await, false);
    patient(&operator).await.expect(202);
    assert_eq!((ensuring(&operator, HOST).await, ensuring(&operator, "stowage@n").await), (json!(true), json!(false)));
    let found = operator.get("/services?ensuring=true").await.expect(200);
    assert_eq!(found["services"].as_array().map(Vec::len), Some(1));
    ended(&site).await;
    assert_eq!(ensuring(&operator, HOST).await, false);
}

#[tokio::test]
async fn b3_the_field_and_the_filter_come_with_their_versions() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let count = |version: &'static str, query: &'static str| {
        let client = operator.at(version);
        async move { client.get(&format!("/services{query}")).await.expect(200)["services"].as_array().unwrap().len() }
    };
    assert!(operator.at("2.85").get("/services").await.expect(200)["services"][0].get("ensuring").is_none());
    assert_eq!(operator.at("2.86").get("/services").await.expect(200)["services"][0]["ensuring"], false);
    assert_eq!(count("2.92", "?ensuring=true").await, 2, "unknown before 2.93");
    assert_eq!(count("2.93", "?ensuring=true").await, 0);
    assert_eq!(count("2.93", "?ensuring=no").await, 2);
    assert_eq!(count("2.93", "?ensuring=perhaps").await, 0);
}

#[tokio::test]
async fn b4_shares_are_ensuring_when_the_answer_comes_and_then_what_they_were() {
    let site = Site::faulty(&["ensure.ensure-shares=delay:1500"]).await;
    let (operator, member) = (site.operator().await, site.member().await);
    let (good, broken) = (site.available().await, site.available().await);
    site.tell(&broken, "error").await;
    patient(&operator).await.expect(202);
    for id in [&good, &broken] {
        assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "ensuring");
    }
    ended(&site).await;
    assert_eq!(member.get(&format!("/shares/{good}")).await.expect(200)["share"]["status"], "available");
    assert_eq!(member.get(&format!("/shares/{broken}")).await.expect(200)["share"]["status"], "error");
}

#[tokio::test]
async fn b4_switched_off_no_status_changes_and_other_work_of_the_share_waits_all_the_same() {
    let faults = json!({ "faults": ["ensure.ensure-shares=delay:1500"] });
    let site = Site::configured(vec![backend("m", faults)], |c| c.share.update_shares_status_on_ensure = false).await;
    let (operator, member) = (site.operator().await, site.member().await);
    let id = site.available().await;
    patient(&operator).await.expect(202);
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "available");
    member.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(202);
    assert_eq!(run(&site).await["state"], "running");
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "extending", "its job waits");
    member.share_until(&id, "available").await;
    assert_ne!(run(&site).await["unchanged"], 0, "it was ensured first");
}

#[tokio::test]
async fn b4_a_share_that_is_busy_at_its_turn_is_ensured_at_the_end() {
    let site = Site::faulty(&["shares.extend=delay:1500"]).await;
    let (operator, member) = (site.operator().await, site.member().await);
    let id = site.available().await;
    member.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(202);
    patient(&operator).await.expect(202);
    let run = ended(&site).await;
    assert_eq!((&run["unchanged"], &run["skipped"]), (&json!(1), &json!(0)), "{run}");
    assert_eq!(member.share_until(&id, "available").await["size"], 2);
}

#[tokio::test]
async fn b9_only_administrators_may_ask() {
    let site = Site::start().await;
    let member = site.member().await;
    strict(&member).await.expect(403);
    patient(&member).await.expect(403);
    let nobody = site.anonymous(stowage::api::route::Api::Share).at("2.86");
    strict(&nobody).await.expect(401);
    patient(&nobody).await.expect(401);
    site.admin(Persona::Member).await.get(&format!("/backends/{HOST}/ensure")).await.expect(403);
}

#[tokio::test]
async fn b9_meanwhile_actions_on_the_share_are_refused_with_its_state() {
    let site = Site::faulty(&["ensure.ensure-shares=delay:2000"]).await;
    let (operator, member) = (site.operator().await, site.member().await);
    let id = site.available().await;
    allow(&member, &id, "10.0.0.1").await;
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["access_rules_status"] == "active").await;
    patient(&operator).await.expect(202);
    let body = json!({ "extend": { "new_size": 2 } });
    assert!(member.post(&action(&id), body).await.fault(400).contains("ensuring"));
    let rule = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.2" } });
    assert!(member.post(&action(&id), rule).await.fault(400).contains("ensuring"));
    assert_eq!(member.delete(&format!("/shares/{id}")).await.status, 403);
    ended(&site).await;
    member.delete(&format!("/shares/{id}")).await.expect(202);
}
