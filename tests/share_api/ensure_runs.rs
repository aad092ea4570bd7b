//! Ensuring shares on demand: what a run does with whatever a driver answers. By the rows of the specification.

use serde_json::{Value, json};
use stowage::config::BackendConfig;

use crate::{
    ensure::{HOST, ended, named, patient, run},
    listening,
    site::{Site, allow, backend},
};

/// Changes the options of the one back end while the service runs.
fn reconfigure(site: &Site, options: Value) {
    let mut config = stowage::config::Config::clone(&site.app().config.get());
    let wanted: BackendConfig = backend("m", options);
    config.backends = vec![wanted];
    site.app().config.replace(config);
}

async fn status(site: &Site, id: &str) -> Value {
    site.member().await.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"].clone()
}

async fn paths(site: &Site, id: &str) -> Vec<Value> {
    let found = site.member().await.get(&format!("/shares/{id}/export_locations")).await.expect(200);
    found["export_locations"].as_array().unwrap().clone()
}

#[tokio::test]
async fn b5_a_share_that_the_driver_leaves_out_is_what_it_was_and_its_owner_reads_so() {
    let site = Site::faulty(&["ensure.ensure-shares@bad=leave-out"]).await;
    let (bad, good) = (named(&site, "bad").await, named(&site, "good").await);
    patient(&site.operator().await).await.expect(202);
    let run = ended(&site).await;
    assert_eq!((&run["left_out"], &run["unchanged"]), (&json!(1), &json!(1)), "{run}");
    assert_eq!((status(&site, &bad).await, status(&site, &good).await), (json!("available"), json!("available")));
    let said = site.messages(&bad).await;
    assert!(said.len() == 1 && said[0].starts_with("ensure: Share Driver did not say how the share stands"), "{said:?}");
    assert!(site.messages(&good).await.is_empty());
}

#[tokio::test]
async fn b5_a_share_that_the_driver_fails_on_is_what_it_was_and_its_owner_reads_why() {
    let site = Site::faulty(&["ensure.ensure-shares@bad=refuse:invalid"]).await;
    let (bad, good) = (named(&site, "bad").await, named(&site, "good").await);
    patient(&site.operator().await).await.expect(202);
    let run = ended(&site).await;
    assert_eq!((&run["failed"], &run["unchanged"]), (&json!(1), &json!(1)), "{run}");
    assert_eq!((status(&site, &bad).await, status(&site, &good).await), (json!("available"), json!("available")));
    assert!(site.messages(&bad).await[0].contains("The storage refuses, as it was told to."));
}

#[tokio::test]
async fn b5_a_batch_that_traps_is_halved_until_the_bad_share_stands_alone() {
    let site = Site::faulty(&["ensure.ensure-shares@bad=trap"]).await;
    let bad = named(&site, "bad").await;
    let mut good = Vec::new();
    for n in 0..6 {
        good.push(named(&site, &format!("good{n}")).await);
    }
    patient(&site.operator().await).await.expect(202);
    let run = ended(&site).await;
    assert_eq!((&run["failed"], &run["unchanged"], &run["state"]), (&json!(1), &json!(6), &json!("done")), "{run}");
    assert_eq!(run["shares"][0]["share_id"], json!(bad));
    for id in good.iter().chain([&bad]) {
        assert_eq!(status(&site, id).await, "available");
    }
}

#[tokio::test]
async fn b5_a_driver_that_answers_for_others_fails_on_that_share_alone() {
    let site = Site::faulty(&["ensure.ensure-shares@bad=wrong-id"]).await;
    let (bad, good) = (named(&site, "bad").await, named(&site, "good").await);
    patient(&site.operator().await).await.expect(202);
    let run = ended(&site).await;
    assert_eq!((&run["failed"], &run["unchanged"]), (&json!(1), &json!(1)), "{run}");
    assert_eq!((status(&site, &bad).await, status(&site, &good).await), (json!("available"), json!("available")));
}

#[tokio::test]
async fn b5_a_run_goes_on_where_it_was_after_a_restart() {
    let faults = json!({ "ensure_batch": 1, "faults": ["ensure.ensure-shares=delay:300"] });
    let site = Site::with(faults).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(site.available().await);
    }
    patient(&site.operator().await).await.expect(202);
    support::wait::until("the first share", || async { (run(&site).await["done"] != 0).then_some(()) }).await;
    let begun = run(&site).await["run_id"].clone();
    let site = site.restarted().await;
    let last = ended(&site).await;
    assert_eq!((&last["run_id"], &last["unchanged"]), (&begun, &json!(4)), "{last}");
    for id in &all {
        assert_eq!(status(&site, id).await, "available");
    }
}

#[tokio::test]
async fn b6_the_progress_is_told_batch_by_batch() {
    let site = Site::with(json!({ "ensure_batch": 1, "faults": ["ensure.ensure-shares=delay:300"] })).await;
    for _ in 0..3 {
        site.available().await;
    }
    patient(&site.operator().await).await.expect(202);
    let half = support::wait::until("some of them", || async {
        let run = run(&site).await;
        (run["done"].as_i64() > Some(0) && run["state"] == "running").then_some(run)
    })
    .await;
    assert!(half["total"] == 3 && half["done"].as_i64() < Some(3), "{half}");
    let last = ended(&site).await;
    assert_eq!((&last["done"], &last["state"]), (&json!(3), &json!("done")));
    assert!(last["rate"].as_f64().unwrap() > 0.0 && last["ended_at"].is_string(), "{last}");
}

#[tokio::test]
async fn b7_the_start_and_the_end_are_events_with_counts() {
    let told = listening::listen();
    let site = Site::faulty(&["ensure.ensure-shares@bad=refuse:invalid"]).await;
    let bad = named(&site, "bad").await;
    patient(&site.operator().await).await.expect(202);
    let run = ended(&site).await;
    let of_run = |kind: &str| {
        let id = run["run_id"].as_str().unwrap().to_owned();
        told.iter(kind).into_iter().filter(|(_, p)| p["run_id"] == json!(id)).map(|(_, p)| p).collect::<Vec<_>>()
    };
    support::wait::until("the events", || async { (of_run("share.ensure.end").len() == 1).then_some(()) }).await;
    assert_eq!(of_run("share.ensure.start").len(), 1);
    let end = &of_run("share.ensure.end")[0];
    assert_eq!((&end["host"], &end["total"], &end["failed"]), (&json!(HOST), &json!(1), &json!(1)));
    // of another resource: in an order of its own
    support::wait::until("the share's event", || async { told.iter("share.ensure.error").iter().any(|(id, _)| *id == bad).then_some(()) })
        .await;
}

#[tokio::test]
async fn b8_a_changed_configuration_that_the_driver_depends_on_ensures_by_itself() {
    let site = Site::start().await;
    let id = site.available().await;
    // what the driver says now is stored
    patient(&site.operator().await).await.expect(202);
    let before = ended(&site).await;
    reconfigure(&site, json!({ "export_addresses": ["192.0.2.77"] }));
    let after = support::wait::until("another run to end", || async {
        let run = run(&site).await;
        (run["run_id"] != before["run_id"] && run["state"] == "done").then_some(run)
    })
    .await;
    assert_eq!((&after["cause"], &after["updated"]), (&json!("change"), &json!(1)), "{after}");
    assert!(paths(&site, &id).await[0]["path"].as_str().unwrap().contains("192.0.2.77"));
}

#[tokio::test]
async fn b8_a_change_that_the_driver_does_not_depend_on_ensures_nothing() {
    let site = Site::start().await;
    site.available().await;
    patient(&site.operator().await).await.expect(202);
    let before = ended(&site).await;
    let incarnation = || site.app().drivers.backend(HOST).unwrap().incarnation();
    let old = incarnation();
    reconfigure(&site, json!({ "extra": ["colour=blue"] }));
    support::wait::until("the swap", || async { (incarnation() != old).then_some(()) }).await;
    support::wait::until("the look at the fingerprint", || async {
        let filter = stowage::store::sql::jobs::JobFilter { kind: Some("backend.ensure".into()), ..Default::default() };
        let jobs = site.app().store.list_jobs(&filter, None, 100).await.unwrap();
        (jobs.len() >= 3 && jobs.iter().all(|j| j.ended_at.is_some())).then_some(())
    })
    .await;
    assert_eq!(run(&site).await["run_id"], before["run_id"]);
}

#[tokio::test]
async fn b8_a_change_in_the_middle_of_a_run_begins_it_anew() {
    let options = |address: &str| json!({ "ensure_batch": 1, "export_addresses": [address], "faults": ["ensure.ensure-shares=delay:300"] });
    let site = Site::with(options("192.0.2.10")).await;
    let mut all = Vec::new();
    for _ in 0..8 {
        all.push(site.available().await);
    }
    patient(&site.operator().await).await.expect(202);
    let begun = support::wait::until("the first share", || async {
        let run = run(&site).await;
        (run["done"].as_i64() > Some(0)).then_some(run)
    })
    .await;
    reconfigure(&site, options("192.0.2.77"));
    let last = ended(&site).await;
    assert_eq!(last["run_id"], begun["run_id"]);
    assert_eq!(
        (&last["state"], &last["total"], &last["updated"], &last["done"]),
        (&json!("done"), &json!(8), &json!(8), &json!(8)),
        "{last}"
    );
    for id in &all {
        assert!(paths(&site, id).await[0]["path"].as_str().unwrap().contains("192.0.2.77"));
        assert_eq!(status(&site, id).await, "available");
    }
}

#[tokio::test]
async fn b10_locations_are_known_again_by_their_path_and_rules_are_sent_again() {
    let site = Site::with(json!({ "export_addresses": ["192.0.2.10", "192.0.2.11"] })).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    let rule = allow(&member, &id, "10.0.0.1").await;
    member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
    patient(&operator).await.expect(202);
    ended(&site).await;
    let old = paths(&site, &id).await;
    reconfigure(&site, json!({ "export_addresses": ["192.0.2.11", "192.0.2.12"] }));
    let new = support::wait::until("the new locations", || async {
        let new = paths(&site, &id).await;
        new.iter().any(|l| l["path"].as_str().unwrap().contains("192.0.2.12")).then_some(new)
    })
    .await;
    let at = |list: &[Value], address: &str| list.iter().find(|l| l["path"].as_str().unwrap().contains(address)).map(|l| l["id"].clone());
    assert!(at(&old, "192.0.2.11").is_some());
    assert_eq!(at(&new, "192.0.2.11"), at(&old, "192.0.2.11"), "the same location");
    assert_eq!(at(&new, "192.0.2.10"), None, "gone");
    support::wait::until("the rules to be sent again", || async {
        let filter =
            stowage::store::sql::jobs::JobFilter { kind: Some("share.access".into()), resource_id: Some(id.clone()), ..Default::default() };
        let jobs = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
        (jobs.len() == 2 && jobs.iter().all(|j| j.ended_at.is_some())).then_some(())
    })
    .await;
    let shown = member.get(&format!("/share-access-rules/{rule}")).await.expect(200);
    assert_eq!(shown["access"]["state"], "active");
}
