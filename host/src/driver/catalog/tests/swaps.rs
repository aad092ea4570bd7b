//! What a changed driver file does to the back ends that use it.

use super::*;

#[tokio::test]
async fn a_new_file_takes_over_under_load_without_a_failed_call() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    let (stop, on_last) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let (catalog, stop, on_last) = (bench.catalog.clone(), stop.clone(), on_last.clone());
            tokio::spawn(async move {
                let mut seen = BTreeMap::new();
                while !stop.is_cancelled() {
                    let backend = catalog.backend("stowage@one").unwrap();
                    backend.need_volumes().unwrap().delete(&Call::internal("op", Duration::from_secs(10)), &volume()).await.unwrap();
                    *seen.entry(backend.driver.version.clone()).or_insert(0) += 1;
                    on_last.fetch_add(usize::from(backend.driver.version == "7"), Ordering::SeqCst);
                }
                seen
            })
        })
        .collect();
    for n in 2..8 {
        let text = format!("version={n} pools=a,b volumes");
        std::fs::write(bench.file("d"), &text).unwrap();
        until(|| bench.version("one") == n.to_string()).await;
    }
    until(|| on_last.load(Ordering::SeqCst) > 0).await;
    stop.cancel();
    let mut versions = BTreeMap::new();
    for caller in callers {
        for (version, calls) in caller.await.unwrap() {
            *versions.entry(version).or_insert(0) += calls;
        }
    }
    assert!(versions.contains_key("1") && versions.contains_key("7"), "{versions:?}");
    until(|| bench.driver("d").state == DriverState::Serving).await;
    let drains = bench.driver("d").drains;
    assert_eq!(drains.len(), 6);
    assert!(drains.iter().all(|d| d.drained_ms.is_some()), "{drains:?}");
}

#[tokio::test]
async fn a_bad_file_leaves_the_old_driver_serving_and_says_why() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    for (bad, why) in [
        ("garbage", "not a component: no version"),
        ("version=2 pools=", "one would not start: wrong_answer"),
        ("version=2 pools=a dead", "one would not start: transient: the array does not answer"),
    ] {
        let refused = bench.offer("d", bad, false).await;
        assert_eq!(refused.result, OfferResult::Refused);
        assert!(refused.reason.as_ref().unwrap().starts_with(why), "{refused:?}");
        assert_eq!(bench.version("one"), "1");
        let status = bench.driver("d");
        assert_eq!((status.state, status.version.as_deref()), (DriverState::Serving, Some("1")));
        assert_eq!(status.refused.unwrap().reason, refused.reason.unwrap());
    }
    assert_eq!(bench.offer("d", V1, false).await.result, OfferResult::Unchanged);
    assert!(bench.driver("d").refused.is_none(), "with the good bytes back the refusal is history");
}

#[tokio::test]
async fn a_driver_that_lacks_what_resources_use_is_refused_unless_forced() {
    let bench = Bench::new(&[("d", "version=1 pools=a,b volumes multiattach")], &[back_end("one", "d")]).await;
    bench.volume("v1", "stowage@one#b", true).await;
    for (worse, why) in [
        ("version=2 pools=a,b multiattach", "stowage@one: it does not export `volumes`, and 1 volumes exist"),
        ("version=2 pools=a volumes multiattach", "stowage@one: it does not report the pool `b`, which holds 1 volumes"),
        ("version=2 pools=a,b volumes", "stowage@one: its pool `b` has no multiattach, which 1 volumes use"),
    ] {
        let refused = bench.offer("d", worse, false).await;
        assert_eq!((refused.result, refused.reason.as_deref()), (OfferResult::Refused, Some(why)));
        assert_eq!(bench.version("one"), "1");
    }
    let forced = bench.offer("d", "version=2 pools=a,b volumes", true).await;
    assert_eq!(forced.result, OfferResult::Accepted);
    assert!(forced.reason.unwrap().contains("no multiattach"));
    assert_eq!(bench.version("one"), "2");
    assert!(bench.driver("d").forced);
}

#[tokio::test]
async fn another_driver_does_not_get_a_back_end_with_volumes_unless_forced() {
    let other = "version=9 pools=a,b volumes name=another";
    let bench = Bench::new(&[("d", V1), ("e", other)], &[back_end("one", "d")]).await;
    bench.volume("v1", "stowage@one#a", false).await;
    let refused = bench.offer("d", other, false).await;
    assert_eq!(refused.result, OfferResult::Refused);
    let why = refused.reason.unwrap();
    assert!(why.contains("stowage@one holds 1 volumes of the driver `d` of test, and this is `another` of test"), "{why}");
    assert_eq!(bench.version("one"), "1");
    let by_configuration = bench.catalog.apply(&[back_end("one", "e")]).await.unwrap();
    assert_eq!(by_configuration.changes[0].result, ChangeResult::Refused);
    assert!(by_configuration.changes[0].reason.as_ref().unwrap().contains("this is `another`"), "{by_configuration:?}");
    assert_eq!(bench.version("one"), "1");
    let forced = bench.offer("d", other, true).await;
    assert_eq!(forced.result, OfferResult::Accepted);
    assert_eq!(bench.version("one"), "9");
}

#[tokio::test]
async fn another_driver_may_have_a_back_end_without_volumes() {
    let bench = Bench::new(&[("d", V1)], &[back_end("one", "d")]).await;
    assert_eq!(bench.offer("d", "version=9 pools=a volumes name=another", false).await.result, OfferResult::Accepted);
}

#[tokio::test]
async fn a_driver_that_may_not_read_the_old_ones_data_is_refused() {
    let bench = Bench::new(&[("d", "version=2 state=3 pools=a volumes")], &[back_end("one", "d")]).await;
    let older = "version=1 state=2 pools=a volumes";
    assert_eq!(bench.offer("d", older, false).await.result, OfferResult::Refused);
    assert_eq!(bench.offer("d", older, true).await.result, OfferResult::Accepted);
}

/// Remembers what it was told; refuses on wish.
#[derive(Default)]
struct Ear {
    heard: Mutex<Vec<String>>,
    no: Mutex<Option<String>>,
}

impl Hooks for Ear {
    fn before_swap<'a>(&'a self, old: Option<&'a Arc<Backend>>, new: &'a Arc<Backend>) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            self.heard.lock().unwrap().push(format!("before {:?} {}", old.map(|b| b.driver.version.clone()), new.driver.version));
            self.no.lock().unwrap().clone().map_or(Ok(()), Err)
        })
    }
    fn on_capabilities_changed<'a>(&'a self, _: Option<&'a Arc<Backend>>, new: &'a Arc<Backend>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.heard.lock().unwrap().push(format!("after {}", new.driver.version));
        })
    }
}

#[tokio::test]
async fn hooks_run_before_and_after_a_swap_and_may_refuse_it() {
    let bench = Bench::new(&[("d", V1)], &[]).await;
    let catalog = Catalog::default();
    let ear = Arc::new(Ear::default());
    let folder = bench.dir.path().join("other");
    let parts = Parts { hooks: vec![ear.clone()], ..Parts::new(bench.store.clone(), Arc::new(bench.texts.clone()), "stowage", folder) };
    catalog.start(parts, &[back_end("one", "d")], &CancellationToken::new()).await.unwrap();
    assert_eq!(std::mem::take(&mut *ear.heard.lock().unwrap()), ["before None 1", "after 1"]);
    *ear.no.lock().unwrap() = Some("the safer value could not be written".to_owned());
    let refused = catalog.offer("d", Bytes::from_static(V2.as_bytes()), false).await.unwrap();
    assert_eq!(refused.reason.as_deref(), Some("stowage@one: the safer value could not be written"));
    assert_eq!(catalog.backend("stowage@one").unwrap().driver.version, "1");
    *ear.no.lock().unwrap() = None;
    catalog.offer("d", Bytes::from_static(V2.as_bytes()), false).await.unwrap();
    assert_eq!(ear.heard.lock().unwrap().last().unwrap(), "after 2");
}
