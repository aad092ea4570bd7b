//! The real loader over built components, with durable storage for drivers.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use stowage::{
    config::{BackendConfig, BackendKind, Grants},
    driver::{Backend, Call, DriverResult, Loader as _},
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
    },
};
use support::{db::Db, drivers};

/// A loader and the database its drivers keep things in.
pub struct Rig {
    pub loader: WasmLoader,
    _db: Db,
}

impl Rig {
    pub async fn new() -> Self {
        Self::with_cache(Some(drivers::compile_cache())).await
    }

    pub async fn with_cache(cache: Option<PathBuf>) -> Self {
        let db = Db::sqlite().await;
        let options = LoaderOptions {
            max_instances: 64,
            cache,
            compiler: Compiler::InProcess,
            db: Some(db.store.driver_db().await.unwrap()),
            progress: ProgressBoard::default(),
        };
        Self { loader: WasmLoader::new(options).unwrap(), _db: db }
    }

    /// Opens a back end over a built driver.
    pub async fn try_open(&self, name: &str, driver: &str, options: Value, grants: Grants) -> DriverResult<Arc<Backend>> {
        self.try_open_as(BackendKind::Block, name, driver, options, grants).await
    }

    pub async fn try_open_as(
        &self,
        kind: BackendKind,
        name: &str,
        driver: &str,
        options: Value,
        grants: Grants,
    ) -> DriverResult<Arc<Backend>> {
        let bytes = Bytes::from(std::fs::read(drivers::file(driver)).unwrap());
        let loaded = self.loader.load(driver, bytes).await.unwrap();
        let options = options.as_object().cloned().unwrap_or_else(Map::new);
        let config = BackendConfig { grants, options, kind, ..BackendConfig::new(name, driver) };
        loaded.open(&format!("stowage@{name}"), Arc::new(config)).await.map(Arc::new)
    }

    /// The memory driver with these options.
    pub async fn memory(&self, name: &str, options: Value) -> Arc<Backend> {
        self.try_open(name, "memory", options, Grants::default()).await.unwrap()
    }

    /// The hostile driver, doing `mode` in `verb`, with little time.
    pub async fn hostile(&self, name: &str, mode: &str, verb: &str) -> Arc<Backend> {
        let grants = Grants { call_timeout: Duration::from_secs(1), ..Grants::default() };
        self.try_open(name, "hostile", json!({ "mode": mode, "verb": verb }), grants).await.unwrap()
    }
}

/// A call with time enough for a loaded machine.
pub fn call(operation: &str) -> Call {
    Call::internal(operation, Duration::from_secs(60))
}
