//! The catalog with drivers that are texts: `version=2 pools=a,b volumes` instead of wasm. The suite `reload` does the same
//! with real components.

use std::{
    collections::{BTreeMap, HashMap},
    os::unix::fs::MetadataExt,
    sync::atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    clock,
    config::BackendConfig,
    driver::{
        Call, CapabilityReport, Driver, DriverIdentity, Interfaces, LoadError,
        backend::Capabilities,
        block::Volumes,
        capability::{Capacity, Features, Pool},
        gate::{Gate, HealthPolicy},
        types::{Answer, Volume, VolumeUpdate},
    },
    store::StoreOptions,
};

/// What a text says a driver is.
#[derive(Clone)]
struct Recipe {
    words: HashMap<String, String>,
}

impl Recipe {
    fn has(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }
    fn get(&self, word: &str) -> &str {
        self.words.get(word).map_or("", String::as_str)
    }
}

/// Loads texts; counts what each asked for.
#[derive(Default, Clone)]
struct Texts {
    loads: Arc<AtomicUsize>,
    /// Back ends whose array does not answer.
    dead_arrays: Arc<Mutex<Vec<String>>>,
    /// Back ends whose array takes a request and never answers.
    hung_arrays: Arc<Mutex<Vec<String>>>,
}

struct TextDriver {
    identity: DriverIdentity,
    recipe: Recipe,
    loader: Texts,
}

struct TextBackend {
    recipe: Recipe,
    gate: Arc<Gate>,
}

impl Loader for Texts {
    fn load<'a>(&'a self, file: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<Arc<dyn Driver>, LoadError>> {
        Box::pin(async move {
            self.loads.fetch_add(1, Ordering::SeqCst);
            let text = String::from_utf8(bytes.to_vec()).map_err(|e| LoadError::NotAComponent(e.to_string()))?;
            let words = text.split_whitespace().map(|w| w.split_once('=').unwrap_or((w, ""))).map(|(k, v)| (k.to_owned(), v.to_owned()));
            let recipe = Recipe { words: words.collect() };
            if !recipe.has("version") {
                return Err(LoadError::NotAComponent("no version".to_owned()));
            }
            let identity = DriverIdentity {
                file: file.to_owned(),
                sha256: offer::hash(bytes).await,
                interface_version: "0.1.0".to_owned(),
                name: if recipe.has("name") { recipe.get("name") } else { file }.to_owned(),
                vendor: "test".to_owned(),
                version: recipe.get("version").to_owned(),
                state_version: recipe.get("state").parse().unwrap_or(0),
                exports: recipe.words.keys().cloned().collect(),
            };
            Ok(Arc::new(TextDriver { identity, recipe, loader: self.clone() }) as Arc<dyn Driver>)
        })
    }
}

impl Driver for TextDriver {
    fn identity(&self) -> &DriverIdentity {
        &self.identity
    }
    fn open<'a>(&'a self, host: &'a str, config: Arc<BackendConfig>) -> BoxFuture<'a, DriverResult<Backend>> {
        Box::pin(async move {
            if self.recipe.has("dead") || self.loader.dead_arrays.lock().unwrap().contains(&config.name) {
                return Err(DriverError::new(ErrorKind::Transient, "the array does not answer"));
            }
            if self.loader.hung_arrays.lock().unwrap().contains(&config.name) {
                std::future::pending::<()>().await;
            }
            let policy = HealthPolicy { failures: 3, first_pause: Duration::from_millis(50), longest_pause: Duration::from_secs(1) };
            let gate = Gate::with_policy(host, config.grants.concurrency, policy);
            let backend = Arc::new(TextBackend { recipe: self.recipe.clone(), gate: gate.clone() });
            let mut interfaces = Interfaces::none(backend.clone());
            if self.recipe.has("volumes") {
                interfaces.volumes = Some(backend);
            }
            let backend = Backend::new(host, config, self.identity.clone(), interfaces).with_gate(gate);
            backend.refresh(&Call::internal("open", Duration::from_secs(5))).await?;
            Ok(backend)
        })
    }
}

impl Capabilities for TextBackend {
    fn report<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<CapabilityReport>> {
        Box::pin(async move {
            let pass = self.gate.enter(call).await?;
            let pools = self.recipe.get("pools").split(',').map(pool).collect();
            let features = Features { multiattach: self.recipe.has("multiattach"), ..Features::default() };
            let answer = if self.recipe.has("traps") && call.operation_id != "open" {
                Err(DriverError::new(ErrorKind::Trap, "unreachable"))
            } else {
                let report = CapabilityReport { features, pools, extra: BTreeMap::new() };
                report.check().map(|()| report)
            };
            pass.ended(&answer);
            answer
        })
    }
}

fn pool(name: &str) -> Pool {
    Pool {
        name: name.to_owned(),
        available: true,
        total: Capacity::Unknown,
        free: Capacity::Unknown,
        provisioned_gib: None,
        reserved_percentage: None,
        max_over_subscription_ratio: None,
        thin_provisioning: true,
        thick_provisioning: false,
        multiattach: None,
        online_extend: None,
        filter_function: None,
        goodness_function: None,
        extra: BTreeMap::new(),
    }
}

impl Volumes for TextBackend {
    fn create<'a>(&'a self, _: &'a Call, _: &'a Volume) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        Box::pin(async move { Err(DriverError::new(ErrorKind::Unsupported, "not in this test")) })
    }
    /// Takes a moment, or traps.
    fn delete<'a>(&'a self, call: &'a Call, _: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            let pass = self.gate.enter(call).await?;
            tokio::time::sleep(Duration::from_millis(2)).await;
            let answer = if self.recipe.has("traps") { Err(DriverError::new(ErrorKind::Trap, "unreachable")) } else { Ok(()) };
            pass.ended(&answer);
            answer
        })
    }
    fn extend<'a>(&'a self, _: &'a Call, _: &'a Volume, _: u64) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        Box::pin(async move { Err(DriverError::new(ErrorKind::Unsupported, "not in this test")) })
    }
}

/// A catalog over a fresh database and plugin folder.
struct Bench {
    dir: tempfile::TempDir,
    store: Store,
    texts: Texts,
    catalog: Catalog,
    _stop: tokio_util::sync::DropGuard,
}

const V1: &str = "version=1 pools=a,b volumes";
const V2: &str = "version=2 pools=a,b volumes";

impl Bench {
    async fn new(files: &[(&str, &str)], backends: &[BackendConfig]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(dir.path().join("s.db").display().to_string())).await.unwrap();
        store.migrate().await.unwrap();
        Self::on(dir, store, files, backends).await
    }

    async fn on(dir: tempfile::TempDir, store: Store, files: &[(&str, &str)], backends: &[BackendConfig]) -> Self {
        let folder = dir.path().join("drivers");
        std::fs::create_dir_all(&folder).unwrap();
        // nothing embedded comes in between
        std::fs::write(folder.join("memory.wasm"), V1).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(format!("{name}.wasm")), text).unwrap();
        }
        let (texts, stop) = (Texts::default(), CancellationToken::new());
        let catalog = Catalog::default();
        let parts = Parts {
            watch: true,
            settle: Duration::from_millis(40),
            ..Parts::new(store.clone(), Arc::new(texts.clone()), "stowage", folder)
        };
        catalog.start(parts, backends, &stop).await.unwrap();
        Self { dir, store, texts, catalog, _stop: stop.drop_guard() }
    }

    /// The service again, over the same database and folder.
    async fn restart(self, backends: &[BackendConfig]) -> Self {
        let Self { dir, store, .. } = self;
        Self::on(dir, store, &[], backends).await
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join("drivers").join(format!("{name}.wasm"))
    }

    async fn offer(&self, name: &str, text: &str, force: bool) -> Offered {
        self.catalog.offer(name, Bytes::from(text.to_owned()), force).await.unwrap()
    }

    fn version(&self, backend: &str) -> String {
        self.catalog.backend(&format!("stowage@{backend}")).map_or_else(|e| e.message, |b| b.driver.version.clone())
    }

    fn driver(&self, name: &str) -> DriverStatus {
        self.catalog.status().into_iter().find(|d| d.name == name).unwrap()
    }

    fn backend(&self, name: &str) -> BackendStatus {
        self.catalog.backend_status().into_iter().find(|b| b.name == name).unwrap()
    }

    /// A row that stands for a volume in a pool.
    async fn volume(&self, id: &str, pool: &str, multiattach: bool) {
        let url = format!("sqlite:{}", self.dir.path().join("s.db").display());
        let db = sqlx::SqlitePool::connect(&url).await.unwrap();
        sqlx::query("INSERT INTO volume_types (id, name, is_public, created_at) VALUES ('t', 't', TRUE, 0) ON CONFLICT DO NOTHING")
            .execute(&db)
            .await
            .unwrap();
        let backend = pool.split('#').next().unwrap();
        let sql = "INSERT INTO volumes (id, project_id, user_id, size_gib, status, attach_status, volume_type_id, availability_zone, host, backend, bootable, multiattach, consumes_quota, created_at) \
                   VALUES ($1, 'p', 'u', 1, 'available', 'detached', 't', 'nova', $2, $3, FALSE, $4, TRUE, 0)";
        sqlx::query(sql).bind(id).bind(pool).bind(backend).bind(multiattach).execute(&db).await.unwrap();
        db.close().await;
    }

    async fn no_volumes(&self) {
        let url = format!("sqlite:{}", self.dir.path().join("s.db").display());
        let db = sqlx::SqlitePool::connect(&url).await.unwrap();
        sqlx::query("DELETE FROM volumes").execute(&db).await.unwrap();
        db.close().await;
    }
}

fn back_end(name: &str, driver: &str) -> BackendConfig {
    BackendConfig::new(name, driver)
}

async fn until(what: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never came true");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn volume() -> Volume {
    Volume::default()
}

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

/// Puts what is no driver file under drivers' names; the names, and what each refusal says.
fn not_files(folder: &std::path::Path) -> Vec<(&'static str, &'static str)> {
    use std::os::unix::fs::symlink;
    let at = |name: &str| folder.join(format!("{name}.wasm"));
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    symlink("/nowhere/at/all", at("dangling")).unwrap();
    symlink("/proc/self/mem", at("unreadable")).unwrap();
    std::fs::write(at("empty"), b"").unwrap();
    vec![
        ("pipe", "a pipe"),
        ("folder", "a folder"),
        ("zero", "a device"),
        ("dangling", "a link to /nowhere/at/all"),
        ("unreadable", "cannot be read"),
        ("empty", "not a component"),
    ]
}

#[tokio::test]
async fn what_is_no_file_in_the_plugin_folder_is_refused_at_start_and_the_rest_serves() {
    let bench = Bench::new(&[("good", V1)], &[]).await;
    let wrong = not_files(&bench.dir.path().join("drivers"));
    let backends = [back_end("one", "good")];
    let bench = tokio::time::timeout(Duration::from_secs(20), bench.restart(&backends)).await.expect("the start waits for something");
    assert_eq!(bench.version("one"), "1");
    for (name, why) in wrong {
        let said = bench.driver(name).refused.unwrap().reason;
        assert!(said.contains(why), "{name}: {said}");
    }
}

#[tokio::test]
async fn what_is_no_file_in_the_plugin_folder_is_refused_at_every_look_and_the_rest_is_taken() {
    let bench = Bench::new(&[("z", V1)], &[back_end("one", "z")]).await;
    let wrong = not_files(&bench.dir.path().join("drivers"));
    // the watched folder
    until(|| wrong.iter().all(|(name, _)| bench.catalog.status().iter().any(|d| d.name == *name && d.refused.is_some()))).await;
    std::fs::write(bench.file("z"), V2).unwrap();
    until(|| bench.version("one") == "2").await;
    // and on demand
    let looked = tokio::time::timeout(Duration::from_secs(20), bench.catalog.reload_now(false)).await.expect("it waits for something");
    let looked = looked.unwrap();
    for (name, why) in wrong {
        let one = looked.iter().find(|o| o.driver == name).unwrap();
        assert_eq!(one.result, OfferResult::Refused, "{name}");
        assert!(one.reason.as_ref().unwrap().contains(why), "{one:?}");
    }
    assert_eq!(bench.version("one"), "2");
}

#[tokio::test]
async fn a_file_that_a_busy_database_kept_from_being_taken_is_taken_later() {
    let dir = tempfile::tempdir().unwrap();
    let patience = Duration::from_millis(300);
    let options = StoreOptions { acquire_timeout: patience, ..StoreOptions::new(dir.path().join("s.db").display().to_string()) };
    let store = Store::open(&options).await.unwrap();
    store.migrate().await.unwrap();
    let bench = Bench::on(dir, store, &[("d", V1)], &[back_end("one", "d")]).await;
    let busy = bench.store.begin().await.unwrap();
    let loads = bench.texts.loads.load(Ordering::SeqCst);
    std::fs::write(bench.file("d"), V2).unwrap();
    until(|| bench.texts.loads.load(Ordering::SeqCst) > loads).await;
    // longer than it waits for the database
    tokio::time::sleep(patience * 2).await;
    drop(busy);
    until(|| bench.version("one") == "2").await;
}

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
    until(|| bench.backend("one").reason.is_some()).await;
    tokio::time::sleep(Duration::from_millis(2500)).await; // it is being tried now
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
