//! What is served after a start: by this process, and by others beside it.

use super::*;

#[tokio::test]
async fn a_deleted_file_loses_nothing() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    std::fs::remove_file(bench.file("d")).unwrap();
    bench.catalog.reload_now(false).await.unwrap();
    assert_eq!(bench.version("one"), "1");
    let bench = bench.restart(&[back_end("one", "d")]).await;
    assert!(!bench.file("d").exists());
    assert_eq!(bench.version("one"), "1");
}

#[tokio::test]
async fn an_old_file_found_at_start_does_not_undo_what_was_accepted_since() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    // as another process would: the bytes come from its folder, ours still has the old file
    assert_eq!(bench.offer("d", V2, false).await.result, OfferResult::Accepted);
    let bench = bench.restart(&[back_end("one", "d")]).await;
    assert_eq!(bench.version("one"), "2");
    // put there again on purpose, it counts; files are stamped by a clock that runs in steps, behind the one of the rows
    let before = clock::now();
    until(|| {
        std::fs::write(bench.file("d"), V1).unwrap();
        let meta = std::fs::metadata(bench.file("d")).unwrap();
        meta.ctime() * 1_000_000 + meta.ctime_nsec() / 1000 > before
    })
    .await;
    let bench = bench.restart(&[back_end("one", "d")]).await;
    assert_eq!(bench.version("one"), "1");
}

#[tokio::test]
async fn another_process_follows_what_one_accepted() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    let other = Catalog::default();
    let folder = bench.dir.path().join("other");
    let parts = Parts::new(bench.store.clone(), Arc::new(bench.texts.clone()), "stowage", folder);
    other.start(parts, &[back_end("one", "d")], &CancellationToken::new()).await.unwrap();
    bench.offer("d", V2, false).await;
    let version = || other.backend("stowage@one").unwrap().driver.version.clone();
    assert_eq!(version(), "1");
    assert_eq!(other.follow().await.unwrap(), ["d"]);
    assert_eq!(version(), "2");
    let loads = bench.texts.loads.load(Ordering::SeqCst);
    assert!(other.follow().await.unwrap().is_empty());
    assert_eq!(bench.texts.loads.load(Ordering::SeqCst), loads, "what serves already is not loaded again");
}

#[tokio::test]
async fn one_bad_driver_does_not_keep_the_others_from_starting() {
    let bench =
        Bench::new(&[("good", V1), ("bad", "garbage")], &[back_end("one", "good"), back_end("two", "bad"), back_end("three", "absent")])
            .await;
    assert_eq!(bench.version("one"), "1");
    assert_eq!(bench.version("two"), "stowage@two is down: the driver `bad` is not loaded: put `bad.wasm` into the plugin folder");
    assert_eq!(bench.driver("bad").state, DriverState::Refused);
    assert_eq!(bench.backend("three").state, BackendState::Down);
    std::fs::write(bench.file("bad"), V1).unwrap();
    until(|| bench.version("two") == "1").await;
    assert_eq!(bench.backend("two").state, BackendState::Up);
}
