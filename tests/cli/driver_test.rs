//! `stowage driver test`: a vendor's one command that tries every promise of the contract.

use std::fs;

use serde_json::json;
use support::{array::Array, drivers, process::command};

fn test(driver: &str, config: Option<&str>, more: &[&str]) -> (Option<i32>, String) {
    let home = tempfile::tempdir().unwrap();
    let mut run = command(home.path());
    if let Some(text) = config {
        let file = home.path().join("stowage.toml");
        fs::write(&file, text).unwrap();
        run.arg("--config").arg(file);
    }
    let out = run.args(["driver", "test"]).arg(drivers::file(driver)).args(more).output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

#[test]
fn a_driver_that_keeps_its_promises_passes_without_a_configuration() {
    for driver in ["template", "memory"] {
        let (status, said) = test(driver, None, &[]);
        assert_eq!(status, Some(0), "{driver}: {said}");
        assert!(
            said.contains("kept     a repeated create finds the volume and answers the same") && said.contains(" 0 broken"),
            "{driver}: {said}"
        );
    }
}

#[test]
fn a_driver_of_share_servers_is_tried_on_networks_of_the_kits_own() {
    let config = "[[backend]]\nname = \"m\"\ndriver = \"memory\"\nkind = \"share\"\n\
                  options = { driver_handles_share_servers = \"yes\", allocation_update = true, admin_addresses = 1 }\n";
    let (status, said) = test("memory", Some(config), &[]);
    assert_eq!(status, Some(0), "{said}");
    for kept in
        ["a repeated set-up finds the share server", "a live share server is given another subnet once", "a share server's teardown"]
    {
        assert!(said.contains(&format!("kept     {kept}")), "{said}");
    }
}

#[test]
fn a_broken_promise_is_named_and_ends_with_status_1() {
    let config = "[[backend]]\nname = \"m\"\ndriver = \"memory\"\noptions.faults = [\"volumes.extend=refuse:internal\"]\n";
    let (status, said) = test("memory", Some(config), &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("BROKEN   an extend may be repeated, and never shrinks: "), "{said}");
}

#[test]
fn the_section_is_the_one_named_or_the_only_one_on_this_driver() {
    let section = |name: &str| format!("[[backend]]\nname = \"{name}\"\ndriver = \"memory\"\n");
    let two = section("a") + &section("b");
    let (status, said) = test("memory", Some(&two), &[]);
    assert!(status == Some(1) && said.contains("choose one with --backend"), "{said}");
    let (status, said) = test("memory", Some(&two), &["--backend", "b"]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = test("memory", Some(&two), &["--backend", "c"]);
    assert!(status == Some(1) && said.contains("there is no back end \"c\""), "{said}");
    let (status, said) = test("template", Some(&two), &[]);
    assert!(status == Some(1) && said.contains("no back end uses the driver \"template\""), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_array_outside_is_reached_with_the_grants_of_the_section_and_left_as_it_was() {
    let array = Array::start().await.unwrap();
    let authority = array.url().trim_start_matches("http://").to_owned();
    let config = format!(
        "[[backend]]\nname = \"m\"\ndriver = \"memory\"\ngrants.http = {}\noptions.array_url = {}\n",
        json!([authority]),
        json!(array.url())
    );
    let (status, said) = tokio::task::spawn_blocking(move || test("memory", Some(&config), &[])).await.unwrap();
    assert_eq!(status, Some(0), "{said}");
    let left = array.control.objects().await.unwrap();
    assert!(left.values().all(|kind| kind.is_empty()), "left behind: {left:#?}");
}
