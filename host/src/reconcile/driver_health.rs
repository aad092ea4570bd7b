//! Drivers that are not as they should be: back ends that are down or quarantined are tried again. In every process, since
//! each has instances of its own.

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
}

impl DriverHealth {
    pub fn new(catalog: Catalog) -> Self {
        Self { catalog }
    }
}

impl Reconciler for DriverHealth {
    fn name(&self) -> &'static str {
        "driver-health"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let up = self.catalog.tend().await.map_err(Error::internal)?;
            Ok(up.into_iter().map(|backend| format!("{backend} came up")).collect::<Vec<_>>().join(", "))
        })
    }
}
