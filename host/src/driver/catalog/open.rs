//! Opening incarnations: a loaded driver with a back end's configuration, tried before it serves.

use std::{sync::Arc, time::Duration};

use futures::future::try_join_all;

use super::{Catalog, CatalogError, Turn};
use crate::{
    config::BackendConfig,
    driver::{
        backend::Backend,
        error::{DriverError, DriverResult, ErrorKind},
        loader::Driver,
    },
};

/// An incarnation that is not open after this long is tried again later: start-up and reload do not hang on one array.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The same when the service starts: an array that is out must not hold it up.
pub(super) const PATIENCE_AT_START: Duration = Duration::from_secs(5);

/// How one back end's opening ended.
pub(super) struct Opened {
    pub config: Arc<BackendConfig>,
    pub result: DriverResult<Arc<Backend>>,
}

impl Opened {
    /// Why it did not open, in one sentence; a driver that is not there needs no class of error.
    pub fn failure(error: &DriverError) -> String {
        match error.kind {
            ErrorKind::NotLoaded => error.message.clone(),
            kind => format!("{}: {}", kind.as_str(), error.message),
        }
    }
}

impl Catalog {
    pub(super) fn host_of(&self, backend: &str) -> Result<String, CatalogError> {
        Ok(format!("{}@{backend}", self.parts()?.host))
    }

    /// What serves under a driver's name.
    pub(super) fn loaded(&self, driver: &str) -> Option<Arc<dyn Driver>> {
        self.book().drivers.get(driver).and_then(|d| d.loaded.clone())
    }

    /// Opens an incarnation beside what serves; takes no turn.
    pub(super) async fn open(
        &self,
        driver: &Arc<dyn Driver>,
        config: Arc<BackendConfig>,
        patience: Duration,
    ) -> Result<Opened, CatalogError> {
        let result = open(&self.host_of(&config.name)?, driver.as_ref(), config.clone(), patience).await;
        Ok(Opened { config, result })
    }

    /// Opens an incarnation of every back end that uses the driver's name, side by side, and only then takes the turn. The
    /// back ends are those of that moment: what was configured meanwhile is opened too.
    pub(super) async fn try_on_users(&self, name: &str, driver: &Arc<dyn Driver>) -> Result<(Turn<'_>, Vec<Opened>), CatalogError> {
        let mut opened: Vec<Opened> = Vec::new();
        loop {
            let users = self.book().users_of(name);
            opened.retain(|o| users.contains(&o.config));
            let missing = users.into_iter().filter(|u| opened.iter().all(|o| o.config != *u)).collect::<Vec<_>>();
            opened.extend(try_join_all(missing.into_iter().map(|config| self.open(driver, config, PATIENCE))).await?);
            let turn = self.inner.turn.lock().await;
            let users = self.book().users_of(name);
            if users.len() == opened.len() && opened.iter().all(|o| users.contains(&o.config)) {
                return Ok((turn, opened));
            }
        }
    }

    /// Opens one back end as `config` says with the driver that serves, and only then takes the turn. When the driver was
    /// replaced meanwhile, it is opened again.
    pub(super) async fn open_one(&self, config: &Arc<BackendConfig>, patience: Duration) -> Result<(Turn<'_>, Opened), CatalogError> {
        loop {
            let driver = self.loaded(&config.driver);
            let opened = match &driver {
                Some(driver) => self.open(driver, config.clone(), patience).await?,
                None => Opened { config: config.clone(), result: Err(not_loaded(&config.driver)) },
            };
            let turn = self.inner.turn.lock().await;
            if same(driver.as_ref(), self.loaded(&config.driver).as_ref()) {
                return Ok((turn, opened));
            }
        }
    }
}

fn not_loaded(driver: &str) -> DriverError {
    DriverError::new(ErrorKind::NotLoaded, format!("the driver `{driver}` is not loaded: put `{driver}.wasm` into the plugin folder"))
}

/// Whether nothing took the driver's place.
fn same(a: Option<&Arc<dyn Driver>>, b: Option<&Arc<dyn Driver>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.identity().sha256 == b.identity().sha256,
        (None, None) => true,
        _ => false,
    }
}

async fn open(host: &str, driver: &dyn Driver, config: Arc<BackendConfig>, patience: Duration) -> DriverResult<Arc<Backend>> {
    match tokio::time::timeout(patience, driver.open(host, config)).await {
        Ok(opened) => opened.map(Arc::new),
        Err(_) => Err(DriverError::new(ErrorKind::Deadline, format!("{host} did not come up within {} s", patience.as_secs()))),
    }
}
