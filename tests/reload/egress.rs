//! Where a real component may send its requests: the memory driver with an HTTP server as its array. Every rule for itself
//! is tested beside the code; here they are seen to hold from the guest outward.

use serde_json::json;
use stowage::{config::BackendConfig, driver::ErrorKind};
use support::array::Array;

use crate::bench::{Bench, backend, call, exercise, memory, volume};

fn with_array(url: &str, allow: &[&str]) -> BackendConfig {
    let mut config = backend("one", "memory", json!({"array_url": url}));
    config.grants.http = allow.iter().map(|&a| a.to_owned()).collect();
    config
}

fn authority(array: &Array) -> String {
    array.url().trim_start_matches("http://").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_array_is_reached() {
    let array = Array::start().await.unwrap();
    let bench = Bench::new(&[("memory", memory())], &[with_array(array.url(), &[&authority(&array)])]).await;
    exercise(&bench.catalog, "one", "v").await.unwrap();
    assert!(!array.control.calls().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_that_is_not_granted_is_not_reached_and_the_operator_reads_why() {
    let array = Array::start().await.unwrap();
    let bench = Bench::new(&[("memory", memory())], &[with_array(array.url(), &["array.example:443"])]).await;
    let reason = match bench.catalog.backend("stowage@one") {
        Err(down) => down.message,
        Ok(backend) => {
            let error = backend.need_volumes().unwrap().create(&call("v"), &volume("v")).await.unwrap_err();
            assert!(error.kind.is_said_by_driver(), "a refusal is an answer to the driver, not a trap: {error:?}");
            error.message
        }
    };
    assert!(reason.contains(&format!("{} is not in the back end's `allow` list", authority(&array))), "{reason}");
    assert!(array.control.calls().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_for_this_machine_is_no_grant_for_it() {
    let array = Array::start().await.unwrap();
    let port = authority(&array).rsplit_once(':').unwrap().1.to_owned();
    let named = format!("localhost:{port}");
    let bench = Bench::new(&[("memory", memory())], &[with_array(&format!("http://{named}"), &[&named])]).await;
    let reason = match bench.catalog.backend("stowage@one") {
        Err(down) => down.message,
        Ok(backend) => backend.need_volumes().unwrap().create(&call("v"), &volume("v")).await.unwrap_err().message,
    };
    assert!(reason.contains("a loopback address"), "{reason}");
    assert!(array.control.calls().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_lease_is_gone_sends_nothing() {
    let array = Array::start().await.unwrap();
    let bench = Bench::new(&[("memory", memory())], &[with_array(array.url(), &[&authority(&array)])]).await;
    let before = array.control.calls().await.unwrap().len();
    let lost = call("v");
    lost.lease.lose();
    let error = bench.backend("one").need_volumes().unwrap().create(&lost, &volume("v")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::LeaseLost);
    assert_eq!(array.control.calls().await.unwrap().len(), before);
}
