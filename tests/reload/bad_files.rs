//! A bad file leaves the old driver serving, and says why in words its author can act on.

use serde_json::json;
use stowage::{
    config::{BackendConfig, BackendKind},
    driver::catalog::{BackendState, DriverState, OfferResult},
};
use support::wait;

use crate::bench::{Bench, backend, broken, exercise, hostile, memory, memory_version, refused, sha256, template};

/// The contract's version in every name, changed in place.
fn of_another_version() -> Vec<u8> {
    let mut bytes = memory();
    let (from, to) = (b"@0.1.0", b"@0.9.0");
    let places: Vec<usize> = bytes.windows(from.len()).enumerate().filter(|(_, w)| w == from).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_file_leaves_the_old_driver_serving_and_says_why() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    let good = memory();
    let bad: [(&str, Vec<u8>, &str); 6] = [
        ("garbage", b"this is no driver".repeat(100), "no wasm"),
        ("nothing", Vec::new(), "empty"),
        ("truncated", good[..good.len() / 2].to_vec(), "not a component"),
        ("damaged", [&good[..good.len() / 2], &[0xff; 64], &good[good.len() / 2 + 64..]].concat(), ""),
        ("a core module", b"\0asm\x01\0\0\0".to_vec(), "core wasm module"),
        ("another version", of_another_version(), "0.9.0"),
    ];
    for (what, bytes, why) in bad {
        let offered = bench.offer("memory", bytes.clone()).await;
        let reason = refused(&offered);
        assert!(reason.contains(why), "{what}: {reason}");
        assert_eq!(bench.serving("one"), sha256(&good), "{what}");
        let status = bench.driver("memory");
        assert_eq!(status.state, DriverState::Serving, "{what}");
        let shown = status.refused.unwrap();
        assert_eq!((shown.sha256, shown.reason.as_str()), (sha256(&bytes), reason), "{what}");
        exercise(&bench.catalog, "one", what).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_file_in_the_folder_is_refused_and_the_next_good_one_is_taken() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    bench.put("memory", b"half a driver");
    wait::until("the refusal shows", || async { bench.driver("memory").refused }).await;
    assert_eq!(bench.serving("one"), sha256(&memory()));
    let good = memory_version(1);
    bench.put("memory", &good);
    bench.wait_for("one", &good).await;
    assert!(bench.driver("memory").refused.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_that_does_not_fit_the_contract_is_refused_by_name() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    let misfits = [
        ("missing-function", "exports: "),
        ("no-capabilities", "exports: "),
        ("wrong-record", "exports: "),
        ("newer-function", "imports: "),
        ("unknown-interface", "imports: "),
        ("next-version", "interface version: "),
        ("only-traps", "trial: "),
    ];
    for (what, why) in misfits {
        let offered = bench.offer("memory", broken(what)).await;
        assert!(refused(&offered).starts_with(why), "{what}: {offered:?}");
        assert_eq!(bench.serving("one"), sha256(&memory()), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_lacks_a_pool_that_volumes_are_in_is_refused_unless_forced() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    bench.volume_row("v", "stowage@one#elsewhere").await;
    let new = memory_version(1);
    let offered = bench.offer("memory", new.clone()).await;
    assert_eq!(refused(&offered), "stowage@one: it does not report the pool `elsewhere`, which holds 1 volumes");
    assert_eq!(bench.serving("one"), sha256(&memory()));
    let forced = bench.catalog.offer("memory", new.clone().into(), true).await.unwrap();
    assert_eq!(forced.result, OfferResult::Accepted);
    assert!(bench.driver("memory").forced);
    assert_eq!(bench.serving("one"), sha256(&new));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_without_an_interface_its_back_ends_need_is_refused() {
    let shares = BackendConfig { kind: BackendKind::Share, ..backend("one", "d", json!({})) };
    let bench = Bench::new(&[("d", memory())], &[shares]).await;
    let offered = bench.offer("d", template()).await;
    assert!(refused(&offered).contains("needs a driver that exports shares"), "{offered:?}");
    assert_eq!(bench.serving("one"), sha256(&memory()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_does_not_know_the_back_ends_options_is_refused() {
    let bench = Bench::new(&[("d", memory())], &[backend("one", "d", json!({"multiattach": false}))]).await;
    let offered = bench.offer("d", hostile()).await;
    assert!(refused(&offered).contains("unknown option `multiattach`"), "{offered:?}");
    assert_eq!(bench.serving("one"), sha256(&memory()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_driver_at_start_leaves_only_its_own_back_ends_down() {
    let files = [("memory", memory()), ("bad", b"garbage".to_vec())];
    let bench = Bench::new(&files, &[backend("one", "memory", json!({})), backend("two", "bad", json!({}))]).await;
    exercise(&bench.catalog, "one", "v").await.unwrap();
    assert_eq!(bench.driver("bad").state, DriverState::Refused);
    let down = bench.backend_status("two");
    assert_eq!(down.state, BackendState::Down);
    assert!(down.reason.unwrap().contains("`bad` is not loaded"));
    bench.put("bad", &memory_version(1));
    bench.wait_for("two", &memory_version(1)).await;
}
