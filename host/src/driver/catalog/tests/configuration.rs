//! Back ends that come, change, go, hang and fail.

use super::*;

#[tokio::test]
async fn an_array_that_hangs_delays_nobody_elses_change() {
    let bench = Bench::new(&[("d", V1), ("e", V1)], &[back_end("other", "e")]).await;
    // down, and due to be tried again
    bench.texts.dead_arrays.lock().unwrap().push("one".to_owned());
    bench.catalog.apply(&[back_end("one", "d"), back_end("other", "e")]).await.unwrap();
    bench.texts.hung_arrays.lock().unwrap().push("one".to_owned());
    bench.texts.dead_arrays.lock().unwrap().clear();
    let loops = {
        let catalog = bench.catalog.clone();
        tokio::spawn(async move {
            loop {
                catalog.tend().await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
    };
    until(|| bench.texts.hanging.load(Ordering::SeqCst) > 0).await; // it is being tried now
    let others = async {
        assert_eq!(bench.offer("e", V2, false).await.result, OfferResult::Accepted);
        assert_eq!(bench.version("other"), "2");
        // also while its own driver is being replaced, or its configuration changed
        let wanted = [back_end("one", "d"), back_end("other", "e"), back_end("third", "e")];
        let (of_its_own, changed) = (bench.offer("d", V2, false), bench.catalog.apply(&wanted));
        let mine = async { tokio::join!(of_its_own, changed) };
        tokio::pin!(mine);
        let rest = async {
            assert_eq!(bench.offer("e", "version=3 pools=a,b volumes", false).await.result, OfferResult::Accepted);
            until(|| bench.version("third") == "3").await;
            bench.catalog.follow().await.unwrap();
        };
        tokio::select! { () = rest => {}, _ = &mut mine => panic!("nothing hangs here: the test proves nothing") }
    };
    tokio::time::timeout(Duration::from_secs(15), others).await.expect("somebody waits for the array that hangs");
    loops.abort();
}

#[tokio::test]
async fn a_back_end_whose_array_is_down_at_start_comes_up_later() {
    let bench = Bench::new(&[("d", V1)], &[]).await;
    bench.texts.dead_arrays.lock().unwrap().push("one".to_owned());
    bench.catalog.apply(&[back_end("one", "d")]).await.unwrap();
    assert_eq!(bench.backend("one").reason.as_deref(), Some("transient: the array does not answer"));
    bench.texts.dead_arrays.lock().unwrap().clear();
    let begun = std::time::Instant::now();
    while bench.catalog.tend().await.unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(bench.version("one"), "1");
}

#[tokio::test]
async fn configuration_adds_changes_and_removes_back_ends_while_others_serve() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    let one = bench.catalog.backend("stowage@one").unwrap();
    let changed = |applied: Applied| applied.changes.into_iter().map(|c| (c.backend, c.result)).collect::<Vec<_>>();
    let added = bench.catalog.apply(&[back_end("one", "d"), back_end("two", "d")]).await.unwrap();
    assert_eq!(changed(added), [("two".to_owned(), ChangeResult::Added)]);
    let mut two = back_end("two", "d");
    two.grants.concurrency = 3;
    let again = bench.catalog.apply(&[back_end("one", "d"), two.clone()]).await.unwrap();
    assert_eq!(changed(again), [("two".to_owned(), ChangeResult::Changed)]);
    assert_eq!(bench.catalog.backend("stowage@two").unwrap().config.grants.concurrency, 3);
    let removed = bench.catalog.apply(&[back_end("one", "d")]).await.unwrap();
    assert_eq!(changed(removed), [("two".to_owned(), ChangeResult::Removed)]);
    assert_eq!(bench.version("two"), "no back end stowage@two is loaded");
    assert!(Arc::ptr_eq(&one, &bench.catalog.backend("stowage@one").unwrap()), "what did not change was not touched");
}

#[tokio::test]
async fn a_back_end_that_holds_volumes_is_removed_only_when_they_are_gone() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    bench.volume("v1", "stowage@one#a", false).await;
    let applied = bench.catalog.apply(&[]).await.unwrap();
    assert_eq!(applied.changes[0].result, ChangeResult::Refused);
    assert!(applied.changes[0].reason.as_ref().unwrap().contains("still holds 1 volumes"));
    assert_eq!(bench.version("one"), "1");
    assert!(bench.backend("one").held_back.unwrap().contains("removed from the configuration"));
    bench.no_volumes().await;
    let begun = std::time::Instant::now();
    while bench.catalog.backend("stowage@one").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        bench.catalog.tend().await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_changed_configuration_that_does_not_start_leaves_the_old_one_serving_and_is_tried_again() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    let mut wanted = back_end("one", "d");
    wanted.grants.concurrency = 3;
    bench.texts.dead_arrays.lock().unwrap().push("one".to_owned());
    let applied = bench.catalog.apply(&[wanted]).await.unwrap();
    assert_eq!(applied.changes[0].result, ChangeResult::Refused);
    assert_eq!(bench.backend("one").state, BackendState::Up);
    assert_eq!(bench.backend("one").held_back.as_deref(), Some("transient: the array does not answer"));
    bench.texts.dead_arrays.lock().unwrap().clear();
    let begun = std::time::Instant::now();
    while bench.catalog.backend("stowage@one").unwrap().config.grants.concurrency != 3 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        bench.catalog.tend().await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(bench.backend("one").held_back, None);
}

#[tokio::test]
async fn a_driver_that_keeps_failing_is_quarantined_and_a_new_file_brings_it_back() {
    let bench = Bench::new(&[("d", "version=1 pools=a volumes traps"), ("e", V1)], &[back_end("one", "d"), back_end("two", "e")]).await;
    let delete = |backend: &'static str| {
        let backend = bench.catalog.backend(backend).unwrap();
        async move { backend.need_volumes().unwrap().delete(&Call::internal("op", Duration::from_secs(5)), &volume()).await }
    };
    for _ in 0..3 {
        assert_eq!(delete("stowage@one").await.unwrap_err().kind, ErrorKind::Trap);
    }
    let refused = delete("stowage@one").await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Quarantined);
    assert!(refused.message.contains("3 calls in a row failed, the last with trap"), "{}", refused.message);
    assert_eq!(bench.driver("d").state, DriverState::Quarantined);
    assert_eq!(bench.backend("one").state, BackendState::Quarantined);
    delete("stowage@two").await.unwrap();
    std::fs::write(bench.file("d"), V2).unwrap();
    until(|| bench.version("one") == "2").await;
    delete("stowage@one").await.unwrap();
    assert_eq!(bench.backend("one").state, BackendState::Up);
}

#[tokio::test]
async fn a_quarantined_back_end_is_probed_when_its_pause_is_over() {
    let bench = Bench::new(&[("d", "version=1 pools=a volumes traps")], &[back_end("one", "d")]).await;
    let backend = bench.catalog.backend("stowage@one").unwrap();
    for _ in 0..3 {
        let _trap = backend.need_volumes().unwrap().delete(&Call::internal("op", Duration::from_secs(5)), &volume()).await;
    }
    let first = backend.gate.quarantine().unwrap();
    until(|| backend.gate.wants_probe()).await;
    bench.catalog.tend().await.unwrap();
    let second = backend.gate.quarantine().unwrap();
    assert!(second.until > first.until && second.since == first.since, "{first:?} {second:?}");
}
