//! The catalog with drivers that are texts: `version=2 pools=a,b volumes` instead of wasm. The suite `reload` does the same
//! with real components.

mod configuration;
mod files;
mod start;
mod swaps;

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
    /// How often one was asked.
    hanging: Arc<AtomicUsize>,
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
                self.loader.hanging.fetch_add(1, Ordering::SeqCst);
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
