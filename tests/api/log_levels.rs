//! Log levels of running processes: set, told, followed by the others, forgotten.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use stowage::{api::route::Api, config::Bind};
use support::{Client, Persona, TestApp, both_databases, wait};

use crate::site::Site;

async fn set(operator: &Client, body: Value) {
    operator.at("3.32").put("/os-services/set-log", body).await.expect(202);
}

async fn told(operator: &Client, body: Value) -> Vec<Value> {
    operator.at("3.32").put("/os-services/get-log", body).await.expect(200)["log_levels"].as_array().unwrap().clone()
}

/// The level of one prefix, as the first process tells it.
async fn level(operator: &Client, prefix: &str) -> Value {
    told(operator, json!({ "prefix": prefix })).await[0]["levels"][prefix].clone()
}

#[tokio::test]
async fn a_level_is_told_for_each_part_of_the_service_that_the_process_does() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let all = told(&operator, json!({ "binary": "*", "server": null, "prefix": "stowage::jobs" })).await;
    let binaries: Vec<&str> = all.iter().map(|t| t["binary"].as_str().unwrap()).collect();
    assert_eq!(binaries, ["cinder-api", "cinder-scheduler", "cinder-volume"]);
    assert_eq!(all[0]["levels"], json!({ "stowage::jobs": "INFO" }));
    assert_eq!(all[0].as_object().unwrap().len(), 3);
    set(&operator, json!({ "level": "debug", "prefix": "stowage::jobs", "binary": "cinder-volume" })).await;
    let of_one = told(&operator, json!({ "binary": "cinder-scheduler", "prefix": "stowage::jobs" })).await;
    assert_eq!(of_one.len(), 1);
    assert_eq!(of_one[0]["levels"], json!({ "stowage::jobs": "DEBUG" }), "one process does both");
    assert_eq!(level(&operator, "stowage::jobs::task").await, "DEBUG");
    assert_eq!(level(&operator, "stowage::api").await, "INFO");
    assert!(told(&operator, json!({ "binary": "cinder-backup" })).await.is_empty());
}

#[tokio::test]
async fn a_wider_prefix_takes_the_place_of_the_narrower_ones_and_none_means_everything() {
    let site = Site::start().await;
    let operator = site.operator().await;
    set(&operator, json!({ "level": "DEBUG", "prefix": "stowage::jobs::task" })).await;
    set(&operator, json!({ "level": "Warning", "prefix": "stowage::jobs" })).await;
    assert_eq!(level(&operator, "stowage::jobs::task").await, "WARNING");
    set(&operator, json!({ "level": "DEBUG", "prefix": "sqlx" })).await;
    assert_eq!(level(&operator, "sqlx::query").await, "DEBUG");
    set(&operator, json!({ "level": "ERROR", "binary": "", "server": "", "prefix": "" })).await;
    let levels = told(&operator, json!({})).await[0]["levels"].clone();
    assert!(levels["stowage::jobs"] == "ERROR" && levels.as_object().unwrap().values().all(|l| l == "ERROR"), "{levels}");
    assert_eq!(level(&operator, "sqlx").await, "ERROR");
    set(&operator, json!({ "level": "DEBUG" })).await;
    assert_eq!((level(&operator, "stowage").await, level(&operator, "sqlx").await), (json!("DEBUG"), json!("WARNING")));
    set(&operator, json!({ "level": "ERROR", "prefix": "no.such.logger" })).await;
    assert_eq!(level(&operator, "stowage").await, "DEBUG");
}

#[tokio::test]
async fn what_is_no_level_no_service_or_no_body_of_theirs_is_refused() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await.at("3.32"), site.member().await.at("3.32"));
    for bad in ["TRACE", "", "warn", "11"] {
        let said = operator.put("/os-services/set-log", json!({ "level": bad })).await.fault(400);
        assert_eq!(said, format!("Invalid input received: {bad} is not a valid log level."));
    }
    for body in [json!({ "level": null }), json!({})] {
        operator.put("/os-services/set-log", body).await.fault(400);
    }
    for path in ["/os-services/set-log", "/os-services/get-log"] {
        for (key, odd) in [
            ("binary", json!("nova-compute")),
            ("binary", json!(7)),
            ("server", json!(["a"])),
            ("server", json!("x".repeat(256))),
            ("prefix", json!({})),
            ("host", json!("stowage")),
        ] {
            let mut body = if path.ends_with("set-log") { json!({ "level": "INFO" }) } else { json!({}) };
            body[key] = odd;
            operator.put(path, body.clone()).await.fault(400);
        }
        assert_eq!(operator.at("3.31").put(path, json!({ "level": "INFO" })).await.status, 404, "{path}");
        member.put(path, if path.ends_with("set-log") { json!({ "level": "INFO" }) } else { json!({}) }).await.fault(403);
    }
}

#[tokio::test]
async fn a_server_is_the_process_its_machine_or_the_cluster() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let process = told(&operator, json!({})).await[0]["host"].as_str().unwrap().to_owned();
    let (machine, pid) = process.rsplit_once(':').unwrap();
    assert_eq!(pid, std::process::id().to_string());
    for server in [process.as_str(), machine, "stowage", "stowage@a"] {
        assert_eq!(told(&operator, json!({ "server": server })).await.len(), 3, "{server}");
    }
    set(&operator, json!({ "level": "DEBUG", "server": "elsewhere" })).await;
    assert!(told(&operator, json!({ "server": "elsewhere" })).await.is_empty());
    assert_eq!(level(&operator, "stowage").await, "INFO");
}

#[tokio::test]
async fn the_last_who_spoke_counts_a_changed_configuration_or_a_level_that_is_set() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let app = site.app.app();
    let applied = async |level: &str, volumes: i64| {
        let mut config = stowage::config::Config::clone(&app.config.get());
        (config.log.level, config.quota.volumes) = (level.to_owned(), volumes);
        app.apply(&config).await;
    };
    set(&operator, json!({ "level": "DEBUG", "prefix": "stowage::jobs" })).await;
    applied("info", 7).await;
    assert_eq!(level(&operator, "stowage::jobs").await, "DEBUG", "another change leaves it");
    applied("warn", 7).await;
    assert_eq!(level(&operator, "stowage::jobs").await, "WARNING");
    set(&operator, json!({ "level": "DEBUG", "prefix": "stowage::jobs" })).await;
    assert_eq!((level(&operator, "stowage::jobs").await, level(&operator, "stowage::api").await), (json!("DEBUG"), json!("WARNING")));
}

#[tokio::test]
async fn a_level_ends_with_its_process() {
    let app = TestApp::without_backends().await;
    set(&app.block(Persona::Admin).await, json!({ "level": "DEBUG" })).await;
    let app = app.restart().await;
    let operator = app.block(Persona::Admin).await;
    assert_eq!(told(&operator, json!({ "binary": "cinder-api" })).await.len(), 1, "the earlier process is not told of");
    assert_eq!(level(&operator, "stowage").await, "INFO");
}

both_databases! {
    async fn other_processes_follow_within_seconds_and_are_told_of_as_long_as_they_live(db) {
        if !db.is_postgres() {
            return; // a SQLite file has one process
        }
        let site = Site::on(&db).await;
        let operator = site.operator().await;
        let second = TestApp::builder().backends([]).database(db.options.url.clone()).config(|c| c.jobs.work = false).start().await;
        let worker = TestApp::builder().backends([]).database(db.options.url.clone()).config(|c| c.listen.block = Bind::OFF).start().await;
        let parts: Vec<String> = told(&operator, json!({})).await.iter().map(|t| t["binary"].as_str().unwrap().to_owned()).collect();
        assert_eq!(parts, ["cinder-api", "cinder-scheduler", "cinder-volume", "cinder-api", "cinder-scheduler", "cinder-volume"]);

        set(&operator, json!({ "level": "DEBUG", "binary": "cinder-api" })).await;
        let debugs = |app: &TestApp| { let app = Arc::clone(app.app()); move || { let app = Arc::clone(&app); async move { app.log.directives().contains("stowage=debug").then_some(()) } } };
        wait::until("the other one that answers requests to follow", debugs(&second)).await;
        wait::until("all that live to tell it", || async {
            told(&operator, json!({ "binary": "cinder-api", "prefix": "stowage" })).await.iter().all(|t| t["levels"]["stowage"] == "DEBUG").then_some(())
        }).await;
        assert!(debugs(&worker)().await.is_none(), "a process that answers no requests is not the API's");
        let of_second = site.personas().await.client(Api::Block, second.url(Api::Block), Persona::Admin);
        set(&of_second, json!({ "level": "DEBUG", "binary": "cinder-volume" })).await;
        wait::until("the one that works to follow what was said to another", debugs(&worker)).await;

        second.stop().await;
        assert_eq!(told(&operator, json!({ "binary": "cinder-api" })).await.len(), 1);
        // killed: nobody says good-bye
        let gone = worker.app().process_id.clone();
        worker.app().reconcilers.stop().await;
        let mut tx = site.app.app().store.begin().await.unwrap();
        assert!(tx.process_lives(&gone, "warn", Duration::ZERO).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(told(&operator, json!({ "binary": "cinder-volume" })).await.len(), 1);
    }
}
