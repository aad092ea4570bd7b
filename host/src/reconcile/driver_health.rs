//! Drivers that are not as they should be: back ends that are down or quarantined are tried again, and what other
//! processes accepted is followed. In every process, since each has instances of its own.

use std::time::Duration;

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{
    driver::catalog::Catalog,
    error::{Error, Result},
};

/// See the module.
pub struct DriverHealth {
    catalog: Catalog,
    /// Whether other processes may share the database.
    shared: bool,
}

impl DriverHealth {
    pub fn new(catalog: Catalog, shared: bool) -> Self {
        Self { catalog, shared }
    }
}

impl Reconciler for DriverHealth {
    fn name(&self) -> &'static str {
        "driver_health"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let mut said = Vec::new();
            if self.shared {
                said.extend(self.catalog.follow().await.map_err(Error::internal)?.into_iter().map(|driver| format!("followed {driver}")));
            }
            said.extend(self.catalog.tend().await.map_err(Error::internal)?.into_iter().map(|backend| format!("{backend} came up")));
            Ok(said.join(", "))
        })
    }
}
