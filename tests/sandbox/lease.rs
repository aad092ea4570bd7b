//! Work that belongs to another process now is not carried on.

use std::time::Duration;

use serde_json::json;
use stowage::{
    driver::{Call, ErrorKind},
    jobs::Lease,
};

use crate::{objects::volume, rig::Rig};

#[tokio::test(flavor = "multi_thread")]
async fn without_the_lease_no_call_begins() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({})).await;
    let lease = Lease::unbounded();
    lease.lose();
    let call = Call::new("op", 1, "req", Duration::from_secs(60), lease);
    let failure = backend.need_volumes().unwrap().create(&call, &volume(1)).await.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::LeaseLost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_lost_while_the_driver_computes_ends_the_call() {
    let rig = Rig::new().await;
    let backend = rig.try_open("h", "hostile", json!({ "mode": "loop" }), Default::default()).await.unwrap();
    let lease = Lease::unbounded();
    let call = Call::new("op", 1, "req", Duration::from_secs(60), lease.clone());
    let running = tokio::spawn({
        let backend = backend.clone();
        async move { backend.need_volumes().unwrap().create(&call, &volume(1)).await }
    });
    while backend.gate.in_flight() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    lease.lose();
    assert_eq!(running.await.unwrap().unwrap_err().kind, ErrorKind::LeaseLost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_driver_that_waits_is_woken_when_its_work_is_not_wanted_any_more_and_may_still_answer() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({ "faults": ["volumes.create=delay:50000"] })).await;
    let lease = Lease::unbounded();
    let call = Call::new("op", 1, "req", Duration::from_secs(60), lease.for_work());
    let unwanted = call.lease.unwanted().clone();
    let running = tokio::spawn({
        let backend = backend.clone();
        async move { backend.need_volumes().unwrap().create(&call, &volume(1)).await }
    });
    while backend.gate.in_flight() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    unwanted.cancel();
    let answer = tokio::time::timeout(Duration::from_secs(30), running).await.expect("long before its time is over").unwrap();
    assert_eq!(answer.unwrap_err().kind, ErrorKind::Transient, "the driver's own");
    let call = Call::new("op", 1, "req", Duration::from_secs(60), lease.for_work());
    backend.need_volumes().unwrap().delete(&call, &volume(1)).await.unwrap();
}
