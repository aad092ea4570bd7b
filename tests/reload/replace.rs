//! A good file takes over.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use stowage::driver::catalog::{DriverState, OfferResult};
use support::wait;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, backend, call, exercise, memory, memory_version, sha256, volume};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_is_replaced_under_load_without_a_failed_call_and_the_old_one_is_drained() {
    let slow = json!({"faults": ["volumes.create=delay:20"]});
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", slow), backend("two", "memory", json!({}))]).await;
    let (stop, after_last) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let last = sha256(&memory_version(5));
    let callers: Vec<_> = (0..6)
        .map(|n| {
            let (catalog, stop, after_last, last) = (bench.catalog.clone(), stop.clone(), after_last.clone(), last.clone());
            let name = if n % 2 == 0 { "one" } else { "two" };
            tokio::spawn(async move {
                let mut calls = BTreeMap::new();
                for round in 0.. {
                    let hash = catalog.backend(&format!("stowage@{name}")).unwrap().driver.sha256.clone();
                    exercise(&catalog, name, &format!("v{n}-{round}")).await.unwrap_or_else(|e| panic!("a call failed: {e:?}"));
                    after_last.fetch_add(usize::from(hash == last), Ordering::SeqCst);
                    *calls.entry(hash).or_insert(0_usize) += 1;
                    if stop.is_cancelled() {
                        break;
                    }
                }
                calls
            })
        })
        .collect();
    for version in 1..=5 {
        let bytes = memory_version(version);
        bench.put("memory", &bytes);
        bench.wait_for("one", &bytes).await;
        bench.wait_for("two", &bytes).await;
    }
    wait::until("calls on the last version", || async { (after_last.load(Ordering::SeqCst) > 10).then_some(()) }).await;
    stop.cancel();
    let mut calls = BTreeMap::new();
    for caller in callers {
        for (hash, n) in caller.await.unwrap() {
            *calls.entry(hash).or_insert(0) += n;
        }
    }
    assert!(calls.contains_key(&sha256(&memory())) && calls.contains_key(&last), "{calls:?}");
    wait::until("everything old is drained", || async { (bench.driver("memory").state == DriverState::Serving).then_some(()) }).await;
    let drains = bench.driver("memory").drains;
    assert_eq!(drains.len(), 10, "five swaps of two back ends");
    assert!(drains.iter().all(|d| d.drained_ms.is_some() && d.calls_in_flight == 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_in_flight_ends_on_the_old_incarnation() {
    let slow = json!({"faults": ["volumes.create=delay:1500"]});
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", slow)]).await;
    let old = bench.backend("one");
    let running = tokio::spawn({
        let old = old.clone();
        async move { old.need_volumes().unwrap().create(&call("slow"), &volume("slow")).await }
    });
    wait::until("the call runs", || async { (old.gate.in_flight() == 1).then_some(()) }).await;
    assert_eq!(bench.offer("memory", memory_version(1)).await.result, OfferResult::Accepted);
    assert_eq!(bench.serving("one"), sha256(&memory_version(1)), "new calls go to the new one at once");
    assert_eq!(bench.driver("memory").state, DriverState::Draining);
    running.await.unwrap().unwrap();
    wait::until("the old one is drained", || async { (bench.driver("memory").state == DriverState::Serving).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_bytes_again_change_nothing() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    let before = bench.backend("one");
    assert_eq!(bench.offer("memory", memory()).await.result, OfferResult::Unchanged);
    let on_demand = bench.catalog.reload_now(false).await.unwrap();
    assert_eq!(on_demand.iter().map(|o| o.result).collect::<Vec<_>>(), [OfferResult::Unchanged]);
    assert!(Arc::ptr_eq(&before, &bench.backend("one")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_file_loses_nothing_also_after_a_restart() {
    let backends = [backend("one", "memory", json!({}))];
    let bench = Bench::new(&[("memory", memory())], &backends).await;
    bench.offer("memory", memory_version(1)).await;
    exercise(&bench.catalog, "one", "before").await.unwrap();
    std::fs::remove_file(bench.folder.join("memory.wasm")).unwrap();
    bench.catalog.reload_now(false).await.unwrap();
    exercise(&bench.catalog, "one", "without the file").await.unwrap();
    let bench = bench.restart(&backends).await;
    assert_eq!(bench.serving("one"), sha256(&memory_version(1)));
    assert!(!bench.folder.join("memory.wasm").exists(), "what the database has is not written again");
    exercise(&bench.catalog, "one", "after the restart").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_driver_keeps_outlives_its_replacement() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    let kept = volume("kept");
    bench.backend("one").need_volumes().unwrap().create(&call("kept"), &kept).await.unwrap();
    let free = |b: &stowage::driver::Backend| b.capabilities().unwrap().report.pools[0].free;
    bench.offer("memory", memory_version(1)).await;
    let after = free(&bench.backend("one"));
    bench.backend("one").need_volumes().unwrap().delete(&call("kept"), &kept).await.unwrap();
    bench.backend("one").refresh(&call("report")).await.unwrap();
    assert_ne!(after, free(&bench.backend("one")), "the new incarnation saw the volume the old one made");
}
