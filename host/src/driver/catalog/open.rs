//! Opening incarnations: a loaded driver with a back end's configuration, tried before it serves.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;

use super::{Catalog, CatalogError};
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

impl Catalog {
    pub(super) fn host_of(&self, backend: &str) -> Result<String, CatalogError> {
        Ok(format!("{}@{backend}", self.parts()?.host))
    }

    /// Opens one incarnation of each configuration, side by side.
    pub(super) async fn open_all(
        &self,
        wanted: Vec<(Arc<dyn Driver>, Arc<BackendConfig>)>,
        patience: Duration,
    ) -> Result<Vec<Opened>, CatalogError> {
        let mut opening = Vec::with_capacity(wanted.len());
        for (driver, config) in wanted {
            let host = self.host_of(&config.name)?;
            opening.push(async move {
                let result = open(&host, driver.as_ref(), config.clone(), patience).await;
                Opened { config, result }
            });
        }
        Ok(join_all(opening).await)
    }
}

async fn open(host: &str, driver: &dyn Driver, config: Arc<BackendConfig>, patience: Duration) -> DriverResult<Arc<Backend>> {
    match tokio::time::timeout(patience, driver.open(host, config)).await {
        Ok(opened) => opened.map(Arc::new),
        Err(_) => Err(DriverError::new(ErrorKind::Deadline, format!("{host} did not come up within {} s", patience.as_secs()))),
    }
}
