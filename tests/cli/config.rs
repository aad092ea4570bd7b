use std::{fs, process::Output};

use support::process::command;
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
fn wrong_usage_ends_with_status_2() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(command(home.path()).arg("frobnicate").output().unwrap().status.code(), Some(2));
}
