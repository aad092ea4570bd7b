//! Drivers without a service: a built component, opened for a back end of its own over a database of its own.

use std::{fs, path::Path, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use stowage::{
    config::BackendConfig,
    driver::{Backend, Call, DriverResult, LoadError, Loader as _},
    jobs::Lease,
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
    },
};

use crate::{db::Db, drivers};

/// A place to open drivers in. What they keep lives as long as it does.
pub struct Lab {
    _db: Db,
    loader: WasmLoader,
}

impl Lab {
    /// With a database of its own.
    pub async fn new() -> Self {
        let db = Db::sqlite().await;
        let options = LoaderOptions {
            max_instances: 64,
            cache: Some(drivers::compile_cache()),
            compiler: Compiler::InProcess,
            db: Some(db.store.driver_db().await.unwrap()),
            progress: ProgressBoard::default(),
        };
        Self { _db: db, loader: WasmLoader::new(options).unwrap() }
    }

    /// Loads a file as the service would.
    ///
    /// # Errors
    /// Why it is no driver.
    pub async fn load(&self, file: &Path) -> Result<Arc<dyn stowage::driver::Driver>, LoadError> {
        let stem = file.file_stem().unwrap().to_string_lossy();
        self.loader.load(&stem, fs::read(file).unwrap().into()).await
    }

    /// Opens a built driver with these options.
    ///
    /// # Errors
    /// Why the driver refuses them.
    pub async fn open(&self, driver: &str, options: &Value) -> DriverResult<Backend> {
        self.open_with(driver, options, |_| {}).await
    }

    /// The same, with more than options changed.
    ///
    /// # Errors
    /// Why the driver refuses them.
    pub async fn open_with(&self, driver: &str, options: &Value, change: impl FnOnce(&mut BackendConfig)) -> DriverResult<Backend> {
        let mut config = BackendConfig::new("lab", driver);
        config.options = options.as_object().cloned().unwrap_or_else(Map::new);
        change(&mut config);
        self.load(&drivers::file(driver)).await.unwrap().open("stowage@lab", Arc::new(config)).await
    }
}

/// A call as a job would make it. Operations of one name are repeats of each other.
#[must_use]
pub fn call(operation: &str) -> Call {
    call_within(operation, Duration::from_secs(60))
}

/// The same with another deadline.
#[must_use]
pub fn call_within(operation: &str, budget: Duration) -> Call {
    let request = format!("req-{}", uuid::Uuid::new_v4());
    Call::new(operation, 1, request, budget, Lease::unbounded())
}
