//! The kit on every component in the folder of built drivers.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use stowage::{
    config::BackendKind,
    driver::kit::{self, Outcome, Report},
};
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
const TRIED_ELSEWHERE: [&str; 3] = ["hostile", "hostile-servers", "linux"];

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

/// Share servers that can do everything, and `more`.
fn servers(more: Value) -> Value {
    let mut all = json!({ "driver_handles_share_servers": "yes", "multiple_subnets": true, "allocation_update": true });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn outcome<'r>(report: &'r Report, promise: &str) -> &'r Outcome {
    &report.checks.iter().find(|c| c.promise == promise).unwrap_or_else(|| panic!("{promise}: {report:#?}")).outcome
}

const SET_UP: &str = "a repeated set-up over two subnets finds the share server and answers the same";
const ON_A_SERVER: &str = "a share on a server is exported at addresses of the server, and its repeated create answers the same";
const CHECK: &str = "asking whether a share server can be given another subnet answers the same again, and changes nothing";
const ANOTHER: &str = "a live share server is given another subnet once, however often, and what is mounted stays where it is";
const TEAR_DOWN: &str =
    "a share server's teardown may be repeated, also without details, and what was never built is torn down with success";

#[tokio::test]
async fn promises_are_kept_by_share_servers_and_by_shares_on_them() {
    for more in [
        json!({}),
        json!({ "driver_handles_share_servers": "either", "share_protocols": ["cifs"] }),
        json!({ "addresses_per_subnet": 3, "admin_addresses": 2 }),
        json!({ "ip_versions": ["6"] }),
    ] {
        let report = report("memory", servers(more.clone())).await;
        assert_kept(&format!("servers with {more}"), &report);
        for promise in [SET_UP, ON_A_SERVER, CHECK, ANOTHER, TEAR_DOWN, "an extend may be repeated"] {
            assert_eq!(outcome(&report, promise), &Outcome::Kept, "{more}: {promise}");
        }
    }
    let one = report("memory", servers(json!({ "multiple_subnets": false, "allocation_update": false }))).await;
    assert_kept("one subnet", &one);
    assert_eq!(outcome(&one, "a repeated set-up finds the share server and answers the same"), &Outcome::Kept);
}

const FOUND: &str = "a share server that was let go of is found under its name with its addresses, however often it is let go of";
const ADOPTED: &str = "a repeated adoption of a share server answers the same, and nobody else gets it";
const NOT_THERE: &str = "a share server that is not there is refused as invalid";
const MAY_MOVE: &str = "asking whether a share server could move answers the same again, and changes nothing";
const CANCELLED: &str = "a migration that was begun twice is one, and is cancelled once or never begun with nothing left of it";
const COMPLETED: &str = "a migration is completed once, however often, and says of each share and snapshot once where it is";
const TAKEN_BACK: &str = "a cancel after the last step brings everything back, or is refused as a risk to lose data";
const ABANDONED: &str = "what is left of a source is abandoned once, however often, and the destination keeps all";

#[tokio::test]
async fn promises_are_kept_by_share_servers_that_are_taken_over_and_that_move() {
    for more in [json!({}), json!({ "admin_addresses": 2, "share_protocols": ["cifs"] }), json!({ "ip_versions": ["6"] })] {
        let report = report("memory", servers(more.clone())).await;
        for promise in [FOUND, ADOPTED, NOT_THERE, MAY_MOVE, CANCELLED, COMPLETED, TAKEN_BACK, ABANDONED] {
            assert_eq!(outcome(&report, promise), &Outcome::Kept, "{more}: {promise}");
        }
    }
    let refusing = report("memory", servers(json!({ "migration_refusal": "no licence" }))).await;
    assert_kept("a driver that refuses to migrate", &refusing);
    let left_out = outcome(&refusing, "a migration of a share server");
    assert!(matches!(left_out, Outcome::Skipped(why) if why.contains("no licence")), "{left_out:?}");
}

/// Two back ends that know nothing of each other.
async fn between(from: Value, to: Value) -> Report {
    let labs = (Lab::new().await, Lab::new().await);
    let (from, to) = (labs.0.open("memory", &from).await.unwrap(), labs.1.open("memory", &to).await.unwrap());
    kit::between(&from, &to, BUDGET).await
}

#[tokio::test]
async fn promises_are_kept_by_a_share_server_that_moves_to_another_array() {
    let slow = json!({ "faults": ["share-server-migration.start=pending:2", "share-server-migration.complete=pending:2"] });
    for more in [json!({}), json!({ "admin_addresses": 2 }), slow] {
        let report = between(servers(json!({})), servers(more.clone())).await;
        assert_kept(&format!("two back ends, {more}"), &report);
        for promise in [MAY_MOVE, CANCELLED, COMPLETED, TAKEN_BACK, ABANDONED] {
            assert_eq!(outcome(&report, promise), &Outcome::Kept, "{more}: {promise}");
        }
    }
}

#[tokio::test]
async fn the_kit_names_what_migrations_break() {
    for (fault, promise) in [
        ("share-server-manage.addresses=refuse:not-found", FOUND),
        ("share-server-manage.release#2=refuse:not-found", FOUND),
        ("share-server-manage.adopt#2=refuse:busy", ADOPTED),
        ("share-server-manage.adopt@stowage-kit-no-such-server=refuse:not-found", NOT_THERE),
        ("share-server-migration.check#2=refuse:internal", MAY_MOVE),
        ("share-server-migration.start#2=refuse:busy", CANCELLED),
        ("share-server-migration.cancel#1=refuse:not-found", CANCELLED),
        ("share-server-migration.cancel#3=refuse:not-found", CANCELLED),
        ("share-server-migration.complete#2=refuse:busy", COMPLETED),
        ("share-server-migration.complete=wrong-answer", COMPLETED),
        ("share-server-migration.complete=leave-out", COMPLETED),
        ("share-server-migration.complete=wrong-id", COMPLETED),
        ("share-server-migration.cancel#4=refuse:not-found", TAKEN_BACK),
        ("share-server-migration.abandon#2=refuse:not-found", ABANDONED),
    ] {
        let within = report("memory", servers(json!({ "faults": [fault] }))).await;
        assert!(matches!(outcome(&within, promise), Outcome::Broken(_)), "{fault}: {within:#?}");
    }
}

#[tokio::test]
async fn a_check_that_is_refused_leaves_all_as_it_was_and_the_rest_is_left_out() {
    let refusing = report("memory", servers(json!({ "allocation_update_refusal": "no VLAN there" }))).await;
    assert_kept("a driver that refuses", &refusing);
    assert_eq!(outcome(&refusing, CHECK), &Outcome::Kept);
    let left_out = outcome(&refusing, "another subnet for a live share server");
    assert!(matches!(left_out, Outcome::Skipped(why) if why.contains("no VLAN there")), "{left_out:?}");
}

#[tokio::test]
async fn the_kit_names_what_share_servers_break() {
    for (fault, promise) in [
        ("share-servers.setup#2=refuse:internal", SET_UP),
        ("share-servers.setup#3=refuse:internal", CHECK),
        ("share-servers.teardown#2=refuse:not-found", TEAR_DOWN),
        ("share-servers.allocations-wanted=wrong-answer", "the addresses that a share server wants stay the same"),
        ("allocations.check-update-network-allocations#2=refuse:internal", CHECK),
        ("allocations.update-network-allocations#2=refuse:internal", ANOTHER),
        ("allocations.update-network-allocations=wrong-answer", ANOTHER),
    ] {
        let report = report("memory", servers(json!({ "faults": [fault] }))).await;
        assert!(matches!(outcome(&report, promise), Outcome::Broken(_)), "{fault}: {report:#?}");
    }
    let lab = Lab::new().await;
    let lie = json!({ "lie": "others-addresses" });
    let liar = lab.open_with("hostile-servers", &lie, |config| config.kind = BackendKind::Share).await.unwrap();
    let report = kit::run(&liar, BUDGET).await;
    let Outcome::Broken(why) = outcome(&report, ON_A_SERVER) else { panic!("{report:#?}") };
    assert!(why.contains("203.0.113.99:/") && why.contains("not at an address that its server was given"), "{why}");
}

#[tokio::test]
async fn promises_are_kept_when_the_array_is_outside_the_process() {
    for mode in ["no", "either", "yes"] {
        let array = Array::start().await.unwrap();
        let lab = Lab::new().await;
        let authority = array.url().trim_start_matches("http://").to_owned();
        let options = servers(json!({ "driver_handles_share_servers": mode, "array_url": array.url() }));
        let backend = lab.open_with("memory", &options, |config| config.grants.http = vec![authority]).await.unwrap();
        assert_kept("HTTP array", &kit::run(&backend, BUDGET).await);
        let left = array.control.objects().await.unwrap();
        assert!(left.values().all(|kind| kind.is_empty()), "the kit left behind {left:#?}");
    }
}

#[tokio::test]
async fn promises_are_kept_when_work_takes_long() {
    let pending = [
        "volumes.create",
        "volumes.extend",
        "volume-clone.clone",
        "shares.create",
        "shares.extend",
        "share-servers.setup",
        "allocations.update-network-allocations",
        "share-server-migration.start",
        "share-server-migration.complete",
    ];
    let faults: Vec<String> = pending.iter().map(|verb| format!("{verb}=pending:2")).collect();
    assert_kept("pending work", &report("memory", servers(json!({ "faults": faults, "driver_handles_share_servers": "either" }))).await);
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
