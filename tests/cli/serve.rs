//! What `stowage serve` does as a process: starting, ending, signals, what it prints and what it costs.

use std::time::{Duration, Instant};

use serde_json::json;
use stowage::{
    api::route::Api,
    config::{Bind, LogFormat},
};
use support::{Persona, Process, process::command, wait};

/// Without back ends no driver has to be built.
async fn serve() -> Process {
    Process::start(|c| c.backends.clear()).await
}

#[tokio::test]
async fn a_second_serve_on_one_database_is_refused() {
    let first = serve().await;
    let mut second = Process::prepare(|c| {
        c.backends.clear();
        c.state_dir = first.state_dir().to_owned();
    });
    second.spawn();
    let status = wait::until("the second process to end", || std::future::ready(second.exited())).await;
    assert_eq!(status.code(), Some(1));
    assert!(second.log().contains("is in use by another stowage process"), "{}", second.log());
}

#[tokio::test]
async fn a_second_serve_on_the_same_configuration_is_told_of_the_state_and_not_of_the_ports() {
    let first = serve().await;
    let out = first.command().arg("serve").output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("is in use by another stowage process") && !said.contains("cannot listen"), "{said}");
}

#[tokio::test]
async fn an_interrupt_during_the_first_compile_ends_it() {
    let cache = tempfile::tempdir().unwrap();
    let mut process = Process::prepare(|c| c.drivers.cache = cache.path().join("cache"));
    process.spawn();
    wait::until("the compile to begin", || std::future::ready(process.log().contains("compiling a driver").then_some(()))).await;
    process.signal(rustix::process::Signal::INT);
    let status = wait::until("the process to end", || std::future::ready(process.exited())).await;
    assert!(status.success(), "{status}\n{}", process.log());
    assert!(process.log().contains("before the start was complete"), "{}", process.log());
    process.restart().await;
}

#[tokio::test]
async fn a_default_type_that_is_not_there_is_warned_of() {
    let mut process = Process::start(|c| {
        c.backends.clear();
        c.block.default_volume_type = "gold".to_owned();
    })
    .await;
    assert!(process.log().contains("no volume type is called"), "{}", process.log());
    assert!(process.terminate().await.success());
    let doctor = process.command().arg("doctor").output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("note  default volume type:") && said.contains("volume type create gold"), "{said}");
}

#[tokio::test]
async fn a_taken_port_is_named_with_its_key() {
    let first = serve().await;
    let mut second = Process::prepare(|c| {
        c.backends.clear();
        c.listen.admin = first.config().listen.admin;
    });
    second.spawn();
    let status = wait::until("the second process to end", || std::future::ready(second.exited())).await;
    assert_eq!(status.code(), Some(1));
    let log = second.log();
    assert!(log.contains("admin cannot listen on") && log.contains("set listen.admin"), "{log}");
}

#[tokio::test]
async fn sigterm_ends_it_with_status_0() {
    let mut process = serve().await;
    assert!(process.terminate().await.success(), "{}", process.log());
}

#[tokio::test]
async fn the_same_state_serves_again_after_a_kill() {
    let mut process = serve().await;
    process.kill();
    process.restart().await;
}

#[tokio::test]
async fn an_idle_service_uses_next_to_no_processor_time() {
    let process = Process::start(|_| ()).await;
    // the first seconds are its start's: what counts is that it comes to rest, and how much it wants then
    let share = || async {
        let (began, used) = (Instant::now(), process.cpu_time());
        tokio::time::sleep(Duration::from_secs(1)).await;
        let share = (process.cpu_time() - used).as_secs_f64() / began.elapsed().as_secs_f64();
        (share < 0.1).then_some(share)
    };
    wait::until("a second with next to nothing to do", share).await;
    wait::until("and another", share).await;
}

#[tokio::test]
async fn it_prints_where_to_go_next() {
    let process = serve().await;
    let clouds = process.config().clouds_yaml().display().to_string();
    let printed = wait::until("the welcome", || std::future::ready(Some(process.printed()).filter(|p| p.contains("Try:")))).await;
    assert!(printed.contains(&clouds) && printed.contains("openstack --os-cloud stowage"), "{printed}");
    assert!(printed.contains(&process.url(Api::Block)), "{printed}");
}

#[tokio::test]
async fn an_address_left_empty_turns_the_service_off() {
    let process = Process::start(|c| {
        c.backends.clear();
        c.listen.share = Bind::OFF;
    })
    .await;
    let printed = wait::until("the welcome", || std::future::ready(Some(process.printed()).filter(|p| p.contains("ready")))).await;
    assert!(!printed.contains("shared file systems"), "{printed}");
}

#[tokio::test]
async fn json_logs_are_one_object_a_line() {
    let mut process = Process::start(|c| {
        c.backends.clear();
        c.log.format = LogFormat::Json;
    })
    .await;
    process.terminate().await;
    for line in process.log().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert!(event["timestamp"].is_string() && event["level"].is_string() && event["message"].is_string(), "{line}");
    }
}

#[tokio::test]
async fn sighup_reloads_and_a_bad_file_changes_nothing() {
    let mut process = serve().await;
    std::fs::write(process.config_file(), "host = 1\n").unwrap();
    process.signal(rustix::process::Signal::HUP);
    wait::until("the refusal in the log", || std::future::ready(process.log().contains("was not reloaded").then_some(()))).await;
    process.reconfigure(|c| c.quota.volumes = 3);
    process.signal(rustix::process::Signal::HUP);
    wait::until("the reload in the log", || std::future::ready(process.log().contains("quota.volumes").then_some(()))).await;
    assert!(process.exited().is_none());
}

#[tokio::test]
async fn a_log_level_is_changed_while_it_runs_and_goes_with_the_configurations_next_one() {
    let mut process = serve().await;
    let personas = process.personas().await;
    let operator = process.client(&personas, Api::Block, Persona::Admin).at("3.32");
    let unchanged = "the configuration is unchanged";
    let said = |process: &Process| process.log().matches(unchanged).count();
    let reload = async || process.client(&personas, Api::Admin, Persona::Admin).post("/config/reload", json!({})).await;
    reload().await;
    assert_eq!(said(&process), 0);
    operator.put("/os-services/set-log", json!({ "level": "DEBUG", "prefix": "stowage::serve" })).await.expect(202);
    reload().await;
    wait::until("what is said at DEBUG only", || std::future::ready((said(&process) == 1).then_some(()))).await;
    operator.put("/os-services/set-log", json!({ "level": "INFO" })).await.expect(202);
    reload().await;
    assert_eq!(said(&process), 1);
    operator.put("/os-services/set-log", json!({ "level": "ERROR" })).await.expect(202);
    process.reconfigure(|c| c.log.level = "debug".into());
    process.signal(rustix::process::Signal::HUP);
    wait::until("the configuration's level", || async {
        let told = operator.put("/os-services/get-log", json!({ "prefix": "stowage" })).await.expect(200);
        (told["log_levels"][0]["levels"]["stowage"] == "DEBUG").then_some(())
    })
    .await;
}

#[tokio::test]
async fn health_and_metrics_need_no_token() {
    let process = serve().await;
    let root = process.anonymous(Api::Admin).rooted_at("");
    let health = root.get("/healthz").await.expect(200);
    assert_eq!(health["conditions"]["database"]["status"], "ok", "{health}");
    let metrics = root.get("/metrics").await;
    assert!(metrics.text.contains("stowage_build_info"), "{metrics:?}");
}

#[test]
fn without_configuration_the_state_is_in_the_users_state_folder() {
    let home = tempfile::tempdir().unwrap();
    let out = command(home.path()).arg("migrate").output().unwrap();
    assert!(out.status.success(), "{out:?}");
    assert!(home.path().join("state/stowage/stowage.db").exists());
}
