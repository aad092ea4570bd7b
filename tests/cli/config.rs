use std::{fs, process::Output, sync::Arc};

use serde_json::json;
use stowage::api::route::Api;
use support::{Persona, Process, drivers, process::command, receiver::Receiver, wait};
use tempfile::TempDir;

fn run(home: &TempDir, config: &str, args: &[&str]) -> Output {
    let file = home.path().join("stowage.toml");
    fs::write(&file, config).unwrap();
    command(home.path()).arg("--config").arg(file).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_unknown_key_ends_serve_with_file_line_and_remedy() {
    let home = tempfile::tempdir().unwrap();
    let out = run(&home, "[listen]\nblok = \"\"\n", &["serve"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1));
    assert!(said.contains("stowage.toml:2:1: unknown key \"blok\""), "{said}");
    assert!(said.contains("did you mean \"block\"?"), "{said}");
}

#[test]
fn a_missing_configuration_file_is_named() {
    let home = tempfile::tempdir().unwrap();
    let out = command(home.path()).args(["--config", "/nowhere/stowage.toml", "serve"]).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("/nowhere/stowage.toml: cannot be read"), "{}", text(&out.stderr));
}

#[test]
fn the_example_file_is_a_usable_configuration() {
    let home = tempfile::tempdir().unwrap();
    let out = run(&home, include_str!("../../examples/stowage.toml"), &["doctor"]);
    assert!(text(&out.stdout).contains("ok    configuration"), "{}", text(&out.stdout));
}

#[test]
fn the_example_for_linux_nodes_is_a_usable_configuration() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("linux.toml");
    fs::write(&file, include_str!("../../examples/linux.toml")).unwrap();
    let out = command(home.path()).env("STOWAGE_NODE_TOKEN", "token").arg("--config").arg(file).arg("doctor").output().unwrap();
    assert!(text(&out.stdout).contains("ok    configuration"), "{}", text(&out.stdout));
}

#[test]
fn doctor_names_the_driver_file_that_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let out = run(&home, "[[backend]]\nname = \"a\"\ndriver = \"vendor\"\n", &["doctor"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1));
    assert!(said.contains("WRONG back end a:") && said.contains("vendor.wasm is not there"), "{said}");
}

#[tokio::test]
async fn doctor_says_whether_somebody_answers_where_events_are_posted() {
    let mut receiver = Receiver::start().await;
    let home = Arc::new(tempfile::tempdir().unwrap());
    let config = format!("[notify.webhook]\nurl = \"{}?token=hunter2\"\nsecret = {{ value = \"hunter2\" }}\n", receiver.url());
    let doctor = || {
        let (home, config) = (Arc::clone(&home), config.clone());
        async move { text(&tokio::task::spawn_blocking(move || run(&home, &config, &["doctor"])).await.unwrap().stdout) }
    };
    let said = doctor().await;
    assert!(said.contains(&format!("ok    webhook: {} answers", receiver.url())), "{said}");
    assert!(receiver.got().is_empty(), "no event was told");
    receiver.end().await;
    let said = doctor().await;
    assert!(said.contains("WRONG webhook: ") && said.contains("cannot be reached"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn doctor_looks_into_drivers_and_checks_options_against_what_they_describe() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("state/stowage/drivers");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("broken.wasm"), "no wasm").unwrap();
    fs::copy(drivers::file("memory"), folder.join("memory.wasm")).unwrap();
    let config = "[[backend]]\nname = \"good\"\ndriver = \"memory\"\noptions.pools = [\"p:10\"]\n\
                  [[backend]]\nname = \"bad\"\ndriver = \"memory\"\noptions = { pool = \"p\", chap = \"perhaps\" }\n\
                  [[backend]]\nname = \"ugly\"\ndriver = \"broken\"\n";
    let out = run(&home, config, &["doctor"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("ok    driver memory: "), "{said}");
    assert!(said.contains("ok    back end good: its section fits"), "{said}");
    assert!(said.contains("WRONG back end bad: ") && said.contains("unknown option `pool`") && said.contains("`chap`"), "{said}");
    assert!(said.contains("WRONG driver broken: ") && said.contains("no wasm at all"), "{said}");
    assert!(said.contains("WRONG back end ugly: its driver broken cannot be used"), "{said}");
    assert!(!home.path().join("state/stowage/cache").exists() && !home.path().join("state/stowage/stowage.db").exists(), "nothing is made");
}

#[tokio::test]
async fn doctor_finds_in_the_database_what_an_emptied_plugin_folder_lacks() {
    let mut process = Process::start(|_| ()).await;
    let folder = process.config().driver_folder();
    let doctor = |process: &Process| {
        let out = process.command().arg("doctor").output().unwrap();
        (out.status.code(), text(&out.stdout))
    };
    fs::remove_file(folder.join("memory.wasm")).unwrap();
    let (status, said) = doctor(&process);
    assert!(status == Some(0) && said.contains("note  back end memory:") && said.contains("GET /stowage/v1/drivers"), "{said}");
    assert!(process.terminate().await.success());
    let (status, said) = doctor(&process);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("ok    driver memory: ") && said.contains("the database, which keeps what was accepted"), "{said}");
    assert!(said.contains("ok    back end memory: "), "{said}");
    process.restart().await;
}

#[test]
fn driver_check_says_in_words_what_an_option_takes() {
    let home = tempfile::tempdir().unwrap();
    let out = command(home.path()).args(["driver", "check"]).arg(drivers::file("memory")).output().unwrap();
    let said = text(&out.stdout);
    assert!(said.contains("option addresses_per_subnet: integer from 1 to 16, default 1."), "{said}");
    assert!(said.contains("option shared_targets: one of yes, no, unknown, default no."), "{said}");
    for debris in ["Integer {", "Choice(", "Some(", "Texts,"] {
        assert!(!said.contains(debris), "{debris} in {said}");
    }
}

#[test]
fn doctor_says_where_a_broken_configuration_is_broken() {
    let home = tempfile::tempdir().unwrap();
    let out = run(&home, "[jobs]\nlease = 5\n", &["doctor"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stdout).contains("stowage.toml:2:9"), "{}", text(&out.stdout));
}

#[test]
fn migrate_may_be_run_twice() {
    let home = tempfile::tempdir().unwrap();
    let first = run(&home, "", &["migrate"]);
    let second = run(&home, "", &["migrate"]);
    assert!(first.status.success() && text(&first.stdout).contains("migrated from version 0"), "{first:?}");
    assert!(second.status.success() && text(&second.stdout).contains("already"), "{second:?}");
}

#[test]
fn help_of_a_node_shows_no_option_that_means_nothing_there() {
    let home = tempfile::tempdir().unwrap();
    let help = |of: &str| text(&command(home.path()).args([of, "--help"]).output().unwrap().stdout);
    assert!(help("doctor").contains("--config") && help("node").contains("--loop-size"));
    assert!(!help("node").contains("--config <") && !help("node").contains("--state-dir"), "{}", help("node"));
}

#[test]
fn doctor_says_what_copying_volumes_lacks_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let said = text(&run(&home, "[copy]\nprogram = \"/nowhere/qemu-img\"\n", &["doctor"]).stdout);
    assert!(said.contains("note  copying volumes: /nowhere/qemu-img: No such file"), "{said}");
    assert!(said.contains("install qemu-utils") && said.contains("copy.program") && !said.contains("operator:"), "{said}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(command(home.path()).arg("frobnicate").output().unwrap().status.code(), Some(2));
}

#[test]
fn a_value_without_sense_ends_serve_with_file_line_and_remedy() {
    let home = tempfile::tempdir().unwrap();
    for line in ["[scheduler]\nmax_over_subscription_ratio = nan\n", "[drivers]\nmax_instances = 0\n", "[quota]\nvolumes = -7\n"] {
        let out = run(&home, line, &["serve"]);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{said}");
        assert!(said.contains("stowage.toml:2:") && said.contains("remedy: use "), "{said}");
    }
}

#[tokio::test]
async fn another_host_name_is_refused_while_volumes_are_placed() {
    let mut process = Process::start(|_| ()).await;
    let personas = process.personas().await;
    let block = process.client(&personas, Api::Block, Persona::Member);
    let volume = block.post("/volumes", json!({"volume": {"size": 1, "name": "v"}})).await.expect(202);
    let id = volume["volume"]["id"].as_str().unwrap().to_owned();
    let status = || async {
        let shown = block.get(&format!("/volumes/{id}")).await.expect(200);
        (shown["volume"]["status"] == "available").then_some(())
    };
    wait::until("the volume", status).await;
    assert!(process.terminate().await.success());
    process.reconfigure(|c| c.host = "renamed".to_owned());
    process.spawn();
    let ended = wait::until("the refused start", || std::future::ready(process.exited())).await;
    assert_eq!(ended.code(), Some(1));
    let said = process.log();
    assert!(said.contains("host is \"renamed\" in the configuration") && said.contains("set host = \"stowage\""), "{said}");
    process.reconfigure(|c| c.host = "stowage".to_owned());
    process.restart().await;
    block.delete(&format!("/volumes/{id}")).await.expect(202);
    wait::until("the end of the volume", || async { (block.get(&format!("/volumes/{id}")).await.status == 404).then_some(()) }).await;
    assert!(process.terminate().await.success());
    process.reconfigure(|c| c.host = "renamed".to_owned());
    process.restart().await;
}

#[tokio::test]
async fn an_edited_policy_file_is_in_force_without_a_change_of_the_configuration() {
    let process = Process::start(|c| {
        c.backends.clear();
        c.policy.file = c.state_dir.parent().unwrap().join("policy.yaml");
        fs::write(&c.policy.file, "").unwrap();
    })
    .await;
    let personas = process.personas().await;
    let block = process.client(&personas, Api::Block, Persona::Member);
    let list = || async { block.get("/volumes").await.status.as_u16() };
    let becomes = async |wanted: u16, what: &str| wait::until(what, || async { (list().await == wanted).then_some(()) }).await;
    assert_eq!(list().await, 200);
    let file = process.config().policy.file.clone();
    // in place
    fs::write(&file, "\"volume:get_all\": \"!\"\n").unwrap();
    becomes(403, "the rule that was written").await;
    // by a rename over it, as editors do
    fs::write(file.with_extension("new"), "\"volume:get_all\": \"\"\n").unwrap();
    fs::rename(file.with_extension("new"), &file).unwrap();
    becomes(200, "the rule that was renamed into place").await;
    // a file that is refused changes nothing, and shows
    fs::write(&file, "\"volume:get_all\": \"(role:admin\"\n").unwrap();
    let health = process.anonymous(Api::Admin).rooted_at("");
    let refused = || async { (health.get("/healthz").await.expect(200)["conditions"]["policy"]["status"] == "degraded").then_some(()) };
    wait::until("the refusal", refused).await;
    assert_eq!(list().await, 200);
    // on SIGHUP nothing else has to change either
    fs::write(&file, "\"volume:get_all\": \"!\"\n").unwrap();
    process.signal(rustix::process::Signal::HUP);
    becomes(403, "the rule after SIGHUP").await;
}
