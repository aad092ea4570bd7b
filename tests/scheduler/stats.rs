//! The loop that asks the back ends: each on its own, and what becomes of their answers.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use stowage::{
    app::{App, PublicUrls},
    clock,
    config::{BackendConfig, Config, Live, load::Source},
    driver::{
        Backend, Call, CapabilityReport, DriverError, DriverIdentity, DriverResult, ErrorKind, Interfaces,
        backend::Capabilities,
        capability::{BlockProtocol, Capacity, Features, Pool, SharedTargets},
    },
    reconcile::stats::Stats,
    service::backend,
};
use support::{both_databases, db::Db, wait};

/// What an array does when it is asked.
#[derive(Clone)]
enum Mood {
    Answers(Box<CapabilityReport>),
    Fails(ErrorKind),
    Hangs,
    Panics,
}

struct Array {
    mood: Mutex<Mood>,
    asked: AtomicUsize,
}

impl Array {
    fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self { mood: Mutex::new(mood), asked: AtomicUsize::new(0) })
    }
    fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Capabilities for Array {
    fn report<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, DriverResult<CapabilityReport>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let mood = self.mood.lock().unwrap().clone();
            match mood {
                Mood::Answers(report) => Ok(*report),
                Mood::Fails(kind) => Err(DriverError::new(kind, "no luck today")),
                Mood::Hangs => std::future::pending().await,
                Mood::Panics => panic!("a panic, as a test wants it"),
            }
        })
    }
}

fn well(shared_targets: SharedTargets) -> Mood {
    let pool = Pool {
        name: "p".into(),
        available: true,
        total: Capacity::Gib(100.0),
        free: Capacity::Gib(60.0),
        provisioned_gib: None,
        reserved_percentage: None,
        max_over_subscription_ratio: None,
        thin_provisioning: false,
        thick_provisioning: true,
        multiattach: None,
        online_extend: None,
        filter_function: None,
        goodness_function: None,
        extra: BTreeMap::new(),
    };
    let features = Features {
        block_protocols: vec![BlockProtocol::Iscsi],
        multiattach: true,
        shared_targets,
        online_extend: true,
        ..Features::default()
    };
    Mood::Answers(Box::new(CapabilityReport { features, pools: vec![pool], extra: BTreeMap::new() }))
}

/// An app whose back ends are these arrays; only the stats loop runs.
async fn watching(db: &Db, interval: Duration, arrays: &[(&str, &Arc<Array>)]) -> (Arc<App>, Stats) {
    let app = serving(db, interval, arrays).await;
    let stats = Stats::new(&app);
    app.reconcilers.start(&app.jobs, Arc::new(stats.clone()));
    (app, stats)
}

/// The same, with a wait after a failure that is far shorter than the interval, as it is by default.
async fn watching_by_default(db: &Db, arrays: &[(&str, &Arc<Array>)]) -> (Arc<App>, Stats) {
    let app = serving(db, Duration::from_secs(2), arrays).await;
    let stats = Stats::new(&app).retry_after(SOON);
    app.reconcilers.start(&app.jobs, Arc::new(stats.clone()));
    (app, stats)
}

async fn serving(db: &Db, interval: Duration, arrays: &[(&str, &Arc<Array>)]) -> Arc<App> {
    let state = tempfile::tempdir().unwrap();
    let mut config = Config { state_dir: Path::new(state.path()).to_owned(), ..Config::default() };
    config.backends = arrays.iter().map(|(name, _)| BackendConfig::new(*name, "fake")).collect();
    config.scheduler.report_interval = interval;
    let app = App::build(Live::new(config, Source::default()), db.store.clone(), PublicUrls::default()).await.unwrap();
    backend::configure(&app.store, &app.config.get()).await.unwrap();
    for (name, array) in arrays {
        let identity = DriverIdentity {
            file: "fake".into(),
            sha256: String::new(),
            interface_version: "0.1.0".into(),
            name: "fake".into(),
            vendor: "Acme".into(),
            version: "7".into(),
            state_version: 1,
            exports: vec![],
        };
        let interfaces = Interfaces::none(Arc::clone(array) as Arc<dyn Capabilities>);
        let config = Arc::new(BackendConfig::new(*name, "fake"));
        app.drivers.insert(Arc::new(Backend::new(format!("stowage@{name}"), config, identity, interfaces)));
    }
    app
}

async fn state(app: &App, name: &str) -> Result<(), String> {
    app.store.backend(&format!("stowage@{name}")).await.unwrap().unwrap().state(clock::now())
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let holds = &holds;
    wait::until(what, || async move { holds().await.then_some(()) }).await;
}

const SOON: Duration = Duration::from_millis(50);
const NEVER: Duration = Duration::from_secs(3600);

both_databases! {
    async fn a_back_end_is_asked_at_once_and_is_up_with_its_pools(db) {
        let array = Array::new(well(SharedTargets::Yes));
        let (app, _) = watching(&db, NEVER, &[("a", &array)]).await;
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        let pools = app.store.pools_of("stowage@a").await.unwrap();
        assert_eq!(pools.len(), 1);
        assert_eq!(pools[0].name, "stowage@a#p");
        let seen = pools[0].capabilities();
        for (key, value) in [("vendor_name", "Acme"), ("driver_version", "7"), ("volume_backend_name", "a"), ("storage_protocol", "iSCSI")] {
            assert_eq!(seen[key], value, "{key}");
        }
        assert_eq!(seen["multiattach"], true);
        let row = app.store.backend("stowage@a").await.unwrap().unwrap();
        assert!(row.report_began_at.unwrap() <= row.reported_at.unwrap());
        app.reconcilers.stop().await;
    }

    async fn a_hanging_back_end_delays_no_other(db) {
        let (hangs, well) = (Array::new(Mood::Hangs), Array::new(well(SharedTargets::Yes)));
        let (app, _) = watching(&db, SOON, &[("a", &hangs), ("b", &well)]).await;
        until("b was asked three times", async || well.asked() >= 3).await;
        assert_eq!(hangs.asked(), 1);
        assert!(state(&app, "b").await.is_ok());
        assert!(state(&app, "a").await.is_err());
        app.reconcilers.stop().await;
    }

    async fn a_refusal_takes_it_down_with_the_reason_and_an_answer_up_again(db) {
        let array = Array::new(Mood::Fails(ErrorKind::Auth));
        let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
        until("it is down for the driver's reason", async || state(&app, "a").await.is_err_and(|e| e.contains("no luck today"))).await;
        array.becomes(well(SharedTargets::Yes));
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        app.reconcilers.stop().await;
    }

    async fn an_array_that_does_not_answer_goes_down_with_the_third_time(db) {
        let array = Array::new(well(SharedTargets::Yes));
        let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        let before = array.asked();
        array.becomes(Mood::Fails(ErrorKind::Transient));
        until("it is down", async || state(&app, "a").await.is_err()).await;
        assert!(array.asked() >= before + 3);
        app.reconcilers.stop().await;
    }

    async fn an_array_that_stops_answering_goes_down_though_its_interval_is_long(db) {
        let array = Array::new(well(SharedTargets::Yes));
        let (app, _) = watching_by_default(&db, &[("a", &array)]).await;
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        let before = array.asked();
        array.becomes(Mood::Fails(ErrorKind::Transient));
        until("it is asked in its turn", async || array.asked() > before).await;
        until("it is down", async || state(&app, "a").await.is_err()).await;
        let asked = array.asked() - before;
        assert!((3..=5).contains(&asked), "down after {asked} calls");
        app.reconcilers.stop().await;
    }

    async fn a_driver_that_traps_or_answers_nonsense_for_once_stays_up_and_goes_down_with_the_third_time(db) {
        for kind in [ErrorKind::Trap, ErrorKind::StackOverflow, ErrorKind::MemoryLimit, ErrorKind::WrongAnswer, ErrorKind::Deadline] {
            let array = Array::new(well(SharedTargets::Yes));
            let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
            until("it is up", async || state(&app, "a").await.is_ok()).await;
            let before = array.asked();
            array.becomes(Mood::Fails(kind));
            until("it is asked again", async || array.asked() > before).await;
            until("it is down", async || state(&app, "a").await.is_err()).await;
            assert!(array.asked() >= before + 3, "{kind:?}: down after {} calls", array.asked() - before);
            app.reconcilers.stop().await;
        }
    }

    async fn a_call_that_the_host_could_not_make_says_nothing_of_the_back_end(db) {
        let array = Array::new(well(SharedTargets::Yes));
        let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        for kind in [ErrorKind::Saturated, ErrorKind::LeaseLost] {
            array.becomes(Mood::Fails(kind));
            let before = array.asked();
            until("it was asked often", async || array.asked() > before + 5).await;
            assert_eq!(state(&app, "a").await, Ok(()), "{kind:?}");
        }
        app.reconcilers.stop().await;
    }

    async fn a_panic_in_its_turn_is_a_failure_and_not_the_last_turn(db) {
        let array = Array::new(Mood::Panics);
        let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
        until("it was asked again", async || array.asked() >= 2).await;
        array.becomes(well(SharedTargets::Yes));
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        app.reconcilers.stop().await;
    }

    async fn it_is_asked_at_once_on_demand(db) {
        let array = Array::new(well(SharedTargets::Yes));
        let (app, stats) = watching(&db, NEVER, &[("a", &array)]).await;
        until("it is up", async || state(&app, "a").await.is_ok()).await;
        let before = array.asked();
        stats.soon("stowage@a");
        until("it is asked again", async || array.asked() > before).await;
        app.reconcilers.stop().await;
    }

    async fn a_changed_report_of_shared_targets_is_stored(db) {
        let array = Array::new(well(SharedTargets::No));
        let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
        let stored = async || app.store.backend("stowage@a").await.unwrap().unwrap().shared_targets();
        until("no is stored", async || stored().await == Some(false)).await;
        array.becomes(well(SharedTargets::Unknown));
        until("unknown counts as yes", async || stored().await == Some(true)).await;
        app.reconcilers.stop().await;
    }

    async fn a_back_end_without_a_driver_is_down_and_says_so(db) {
        let array = Array::new(well(SharedTargets::Yes));
        let (app, _) = watching(&db, SOON, &[("a", &array)]).await;
        let mut config = Config::clone(&app.config.get());
        config.backends.push(BackendConfig::new("b", "missing"));
        let (other, _) = {
            let app = App::build(Live::new(config, Source::default()), db.store.clone(), PublicUrls::default()).await.unwrap();
            backend::configure(&app.store, &app.config.get()).await.unwrap();
            let stats = Stats::new(&app);
            app.reconcilers.start(&app.jobs, Arc::new(stats.clone()));
            (app, stats)
        };
        until("it is down for want of a driver", async || state(&other, "b").await.is_err_and(|e| e.contains("not_loaded"))).await;
        other.reconcilers.stop().await;
        app.reconcilers.stop().await;
    }
}

#[tokio::test]
async fn a_process_that_cannot_use_a_back_end_does_not_take_it_down_for_one_that_can() {
    support::db::on_postgres(|db| async move {
        let (well, broken) = (Array::new(well(SharedTargets::Yes)), Array::new(Mood::Fails(ErrorKind::Trap)));
        let interval = Duration::from_millis(500);
        let (app, _) = watching(&db, interval, &[("a", &well), ("b", &well)]).await;
        until("both are up", async || state(&app, "a").await.is_ok() && state(&app, "b").await.is_ok()).await;
        // on that machine the driver of `a` traps, and the one of `b` is not loaded
        let config = Config::clone(&app.config.get());
        let elsewhere = serving(&db, interval, &[("a", &broken), ("b", &broken)]).await;
        let both = App::build(Live::new(config, Source::default()), db.store.clone(), PublicUrls::default()).await.unwrap();
        both.drivers.insert(elsewhere.drivers.backend("stowage@a").unwrap());
        let stats = Stats::new(&both).retry_after(SOON);
        both.reconcilers.start(&both.jobs, Arc::new(stats));
        let since = well.asked();
        until("both machines have asked often", async || {
            for name in ["a", "b"] {
                assert_eq!(state(&app, name).await, Ok(()), "{name}");
            }
            broken.asked() >= 10 && well.asked() >= since + 4
        })
        .await;
        both.reconcilers.stop().await;
        // nobody can use it any more
        well.becomes(Mood::Fails(ErrorKind::Auth));
        until("it is down", async || state(&app, "a").await.is_err()).await;
        app.reconcilers.stop().await;
    })
    .await;
}
