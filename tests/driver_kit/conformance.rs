//! The kit on every component in the folder of built drivers.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use stowage::driver::kit::{self, Outcome, Report};
use support::{array::Array, drivers, lab::Lab};

const BUDGET: Duration = Duration::from_secs(60);

async fn report(driver: &str, options: Value) -> Report {
    let lab = Lab::new().await;
    let backend = lab.open(driver, &options).await.unwrap();
    kit::run(&backend, BUDGET).await
}

fn assert_kept(what: &str, report: &Report) {
    let broken: Vec<_> = report.broken().collect();
    assert!(broken.is_empty(), "{what}: {broken:#?}");
    assert!(report.checks.iter().any(|c| c.outcome == Outcome::Kept), "{what}: nothing was tried: {report:#?}");
}

/// Options with which a driver works here, without an array.
fn options(driver: &str) -> Value {
    match driver {
        "memory" => json!({ "foreign": ["old:3"] }),
        _ => json!({}),
    }
}

/// Hostile drivers break promises for a living; the sandbox suite is theirs. `linux` needs a node, and root.
const TRIED_ELSEWHERE: [&str; 2] = ["hostile", "linux"];

#[tokio::test]
async fn every_built_driver_keeps_its_promises() {
    let mut tried = Vec::new();
    for entry in fs::read_dir(drivers::built()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|e| e == "wasm") && !TRIED_ELSEWHERE.contains(&name.as_str()) {
            assert_kept(&name, &report(&name, options(&name)).await);
            tried.push(name);
        }
    }
    assert!(["memory", "template"].iter().all(|d| tried.iter().any(|t| t == d)), "only {tried:?} are built: run `make drivers`");
}

#[tokio::test]
async fn promises_are_kept_over_every_protocol() {
    for protocol in ["iscsi", "fibre-channel", "nvme-of", "rbd", "nfs"] {
        for shared in ["yes", "no"] {
            let options = json!({ "block_protocol": protocol, "shared_targets": shared, "chap": true });
            assert_kept(&format!("{protocol}, shared targets: {shared}"), &report("memory", options).await);
        }
    }
}

#[tokio::test]
async fn promises_are_kept_when_the_array_is_outside_the_process() {
    let array = Array::start().await.unwrap();
    let lab = Lab::new().await;
    let authority = array.url().trim_start_matches("http://").to_owned();
    let backend =
        lab.open_with("memory", &json!({ "array_url": array.url() }), |config| config.grants.http = vec![authority]).await.unwrap();
    assert_kept("HTTP array", &kit::run(&backend, BUDGET).await);
    let left = array.control.objects().await.unwrap();
    assert!(left.values().all(|kind| kind.is_empty()), "the kit left behind {left:#?}");
}

#[tokio::test]
async fn promises_are_kept_when_work_takes_long() {
    let pending = ["volumes.create", "volumes.extend", "volume-clone.clone", "shares.create", "shares.extend"];
    let faults: Vec<String> = pending.iter().map(|verb| format!("{verb}=pending:2")).collect();
    assert_kept("pending work", &report("memory", json!({ "faults": faults })).await);
}

#[tokio::test]
async fn the_kit_names_the_promise_that_is_broken() {
    for (fault, promise) in [
        ("capabilities.report=wrong-answer", "it reports pools whose free room is not above their size"),
        ("volumes.delete#2=refuse:not-found", "a delete may be repeated, and what was never made is deleted with success"),
        ("connection-info.disconnect#2=refuse:not-found", "a disconnect may be repeated, and leaves other hosts connected"),
        ("connection-info.disconnect=wrong-answer", "two names of one host are two connections: ending one leaves the other"),
        (
            "connection-info.connect#6=refuse:internal",
            "a connection keeps its answer when an attachment that needs more comes to it, and when that has gone",
        ),
        ("volumes.extend=refuse:internal", "an extend may be repeated, and never shrinks"),
        ("access.apply=wrong-answer", "each rule gets a state, whether it is new, given again or all are applied anew"),
    ] {
        let lab = Lab::new().await;
        // A report that lies from the first would keep the driver out of service.
        let fault = fault.replace("capabilities.report=", "capabilities.report#2=");
        let backend = lab.open("memory", &json!({ "faults": [fault], "chap": true })).await.unwrap();
        let report = kit::run(&backend, BUDGET).await;
        assert!(report.broken().any(|c| c.promise == promise), "{fault}: {report:#?}");
    }
}
