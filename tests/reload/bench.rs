//! A catalog with the real loader over a fresh database and plugin folder, without the rest of the service.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use stowage::{
    config::BackendConfig,
    driver::{
        Backend, Call, DriverResult,
        catalog::{BackendStatus, Catalog, DriverStatus, OfferResult, Offered, Parts},
        types::Volume,
    },
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
    },
};
use support::{db::Db, drivers, wait};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A process's drivers.
pub struct Bench {
    pub db: Arc<Db>,
    pub catalog: Catalog,
    pub folder: PathBuf,
    _dir: Option<tempfile::TempDir>,
    _stop: DropGuard,
}

impl Bench {
    /// With `files` (name and bytes) in the plugin folder.
    pub async fn new(files: &[(&str, Vec<u8>)], backends: &[BackendConfig]) -> Self {
        Self::over(Arc::new(Db::sqlite().await), files, backends).await
    }

    /// Over a database that may know drivers already.
    pub async fn over(db: Arc<Db>, files: &[(&str, Vec<u8>)], backends: &[BackendConfig]) -> Self {
        let dir = tempfile::Builder::new().prefix("stowage-test-").tempdir().unwrap();
        let folder = dir.path().to_owned();
        for (name, bytes) in files {
            fs::write(folder.join(format!("{name}.wasm")), bytes).unwrap();
        }
        Self { _dir: Some(dir), ..Self::over_folder(db, folder, backends).await }
    }

    /// Over a database and a plugin folder that another process has used.
    pub async fn over_folder(db: Arc<Db>, folder: PathBuf, backends: &[BackendConfig]) -> Self {
        let loader = WasmLoader::new(LoaderOptions {
            max_instances: 32,
            cache: Some(drivers::compile_cache()),
            compiler: Compiler::InProcess,
            db: Some(db.store.driver_db().await.unwrap()),
            progress: ProgressBoard::default(),
        });
        let (catalog, stop) = (Catalog::default(), CancellationToken::new());
        let parts = Parts {
            watch: true,
            settle: Duration::from_millis(50),
            ..Parts::new(db.store.clone(), Arc::new(loader.unwrap()), "stowage", folder.clone())
        };
        catalog.start(parts, backends, &stop).await.unwrap();
        Self { db, catalog, folder, _dir: None, _stop: stop.drop_guard() }
    }

    /// Another start over the same database, with an empty plugin folder.
    pub async fn restart(self, backends: &[BackendConfig]) -> Self {
        let db = self.db.clone();
        drop(self);
        Self::over(db, &[], backends).await
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        drivers::put(&self.folder, name, bytes);
    }

    pub async fn offer(&self, name: &str, bytes: Vec<u8>) -> Offered {
        self.catalog.offer(name, Bytes::from(bytes), false).await.unwrap()
    }

    pub fn backend(&self, name: &str) -> Arc<Backend> {
        self.catalog.backend(&format!("stowage@{name}")).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The hash of the bytes that serve a back end.
    pub fn serving(&self, name: &str) -> String {
        self.backend(name).driver.sha256.clone()
    }

    pub async fn wait_for(&self, name: &str, bytes: &[u8]) {
        let wanted = sha256(bytes);
        wait::until("the new bytes serve", || async {
            let found = self.catalog.backend(&format!("stowage@{name}")).ok()?;
            (found.driver.sha256 == wanted).then_some(())
        })
        .await;
    }

    pub fn driver(&self, name: &str) -> DriverStatus {
        self.catalog.status().into_iter().find(|d| d.name == name).unwrap()
    }

    pub fn backend_status(&self, name: &str) -> BackendStatus {
        self.catalog.backend_status().into_iter().find(|b| b.name == name).unwrap()
    }

    /// A row that stands for a volume.
    pub async fn volume_row(&self, id: &str, pool_host: &str) {
        let db = sqlx::SqlitePool::connect(&self.db.options.url).await.unwrap();
        let kind = "INSERT INTO volume_types (id, name, is_public, created_at) VALUES ('t', 't', TRUE, 0) ON CONFLICT DO NOTHING";
        sqlx::query(kind).execute(&db).await.unwrap();
        let row = "INSERT INTO volumes (id, project_id, user_id, size_gib, status, attach_status, volume_type_id, availability_zone, host, backend, \
                   bootable, multiattach, consumes_quota, created_at) \
                   VALUES ($1, 'p', 'u', 1, 'available', 'detached', 't', 'nova', $2, $3, FALSE, FALSE, TRUE, 0)";
        sqlx::query(row).bind(id).bind(pool_host).bind(pool_host.split('#').next().unwrap()).execute(&db).await.unwrap();
        db.close().await;
    }
}

/// One create and one delete of a volume of our own.
pub async fn exercise(catalog: &Catalog, backend: &str, id: &str) -> DriverResult<()> {
    let backend = catalog.backend(&format!("stowage@{backend}"))?;
    let volume = volume(id);
    backend.need_volumes()?.create(&call(id), &volume).await?;
    backend.need_volumes()?.delete(&call(id), &volume).await
}

pub fn call(id: &str) -> Call {
    Call::internal(id, Duration::from_secs(60))
}

pub fn volume(id: &str) -> Volume {
    Volume { id: id.to_owned(), name: id.to_owned(), pool: "pool0".to_owned(), size_gib: 1, ..Volume::default() }
}

pub fn memory() -> Vec<u8> {
    fs::read(drivers::file("memory")).unwrap()
}

/// The same driver in other bytes.
pub fn memory_version(n: u8) -> Vec<u8> {
    drivers::other_build("memory", n)
}

pub fn template() -> Vec<u8> {
    fs::read(drivers::file("template")).unwrap()
}

pub fn hostile() -> Vec<u8> {
    fs::read(drivers::file("hostile")).unwrap()
}

/// A component that is wrong in one way.
pub fn broken(name: &str) -> Vec<u8> {
    fs::read(drivers::file(&format!("broken/{name}"))).unwrap()
}

/// A back end on a driver, with options as in the file.
pub fn backend(name: &str, driver: &str, options: serde_json::Value) -> BackendConfig {
    let serde_json::Value::Object(options) = options else { panic!("options are an object") };
    BackendConfig { options, ..BackendConfig::new(name, driver) }
}

pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(bytes))
}

#[track_caller]
pub fn refused(offered: &Offered) -> &str {
    assert_eq!(offered.result, OfferResult::Refused, "{offered:?}");
    offered.reason.as_deref().unwrap()
}
