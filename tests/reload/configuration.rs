//! Back ends come, change and go while calls go on.

use std::sync::Arc;

use serde_json::json;
use stowage::driver::catalog::{BackendState, ChangeResult};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, backend, exercise, memory};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn back_ends_are_added_changed_and_removed_while_calls_go_on() {
    let one = backend("one", "memory", json!({}));
    let bench = Bench::new(&[("memory", memory())], std::slice::from_ref(&one)).await;
    let stop = CancellationToken::new();
    let callers: Vec<_> = (0..4)
        .map(|n| {
            let (catalog, stop) = (bench.catalog.clone(), stop.clone());
            tokio::spawn(async move {
                let mut calls = 0;
                while !stop.is_cancelled() {
                    exercise(&catalog, "one", &format!("v{n}-{calls}")).await.unwrap_or_else(|e| panic!("a call failed: {e:?}"));
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    let catalog = &bench.catalog;
    let apply = |backends: Vec<stowage::config::BackendConfig>| async move {
        let applied = catalog.apply(&backends).await.unwrap();
        applied.changes.into_iter().map(|c| (c.backend, c.result)).collect::<Vec<_>>()
    };
    let two = backend("two", "memory", json!({}));
    assert_eq!(apply(vec![one.clone(), two.clone()]).await, [("two".to_owned(), ChangeResult::Added)]);
    exercise(&bench.catalog, "two", "new").await.unwrap();
    let changed = backend("one", "memory", json!({"pools": ["pool0:20", "pool1:20"]}));
    assert_eq!(apply(vec![changed.clone(), two]).await, [("one".to_owned(), ChangeResult::Changed)]);
    assert_eq!(bench.backend("one").capabilities().unwrap().report.pools.len(), 2);
    assert_eq!(apply(vec![changed]).await, [("two".to_owned(), ChangeResult::Removed)]);
    assert!(bench.catalog.backend("stowage@two").is_err());
    stop.cancel();
    for caller in callers {
        assert!(caller.await.unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_options_are_refused_with_every_fault_and_the_old_ones_stay_in_force() {
    let good = backend("one", "memory", json!({"multiattach": false}));
    let bench = Bench::new(&[("memory", memory())], std::slice::from_ref(&good)).await;
    let before = bench.backend("one");
    let bad = backend("one", "memory", json!({"multiattach": "perhaps", "colour": "blue"}));
    let applied = bench.catalog.apply(&[bad]).await.unwrap();
    assert_eq!(applied.changes[0].result, ChangeResult::Refused);
    let reason = applied.changes[0].reason.as_deref().unwrap();
    assert!(reason.contains("unknown option `colour`") && reason.contains("`multiattach` must be true or false"), "{reason}");
    assert!(Arc::ptr_eq(&before, &bench.backend("one")));
    assert_eq!(bench.backend_status("one").held_back.as_deref(), Some(reason));
    bench.catalog.apply(&[good]).await.unwrap();
    assert_eq!(bench.backend_status("one").held_back, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_back_end_that_holds_volumes_is_not_removed() {
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", json!({}))]).await;
    bench.volume_row("v", "stowage@one#pool0").await;
    let applied = bench.catalog.apply(&[]).await.unwrap();
    assert_eq!(applied.changes[0].result, ChangeResult::Refused);
    assert!(applied.changes[0].reason.as_deref().unwrap().contains("still holds 1 volumes"));
    exercise(&bench.catalog, "one", "v2").await.unwrap();
    assert_eq!(bench.backend_status("one").state, BackendState::Up);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_back_end_whose_driver_is_not_there_is_down_and_comes_with_the_file() {
    let bench = Bench::new(&[], &[]).await;
    let applied = bench.catalog.apply(&[backend("one", "later", json!({}))]).await.unwrap();
    assert_eq!(applied.changes[0].result, ChangeResult::Down);
    bench.put("later", &memory());
    bench.wait_for("one", &memory()).await;
}
