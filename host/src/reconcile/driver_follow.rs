//! Following the drivers that other processes accepted into the database. A loop of its own: a probe of an array that hangs
//! must not keep new bytes from serving.

use std::time::Duration;

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{
    driver::catalog::Catalog,
    error::{Error, Result},
};

/// See the module.
pub struct DriverFollow {
    catalog: Catalog,
}

impl DriverFollow {
    pub fn new(catalog: Catalog) -> Self {
        Self { catalog }
    }
}

impl Reconciler for DriverFollow {
    fn name(&self) -> &'static str {
        "driver-follow"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let followed = self.catalog.follow().await.map_err(Error::internal)?;
            Ok(followed.into_iter().map(|driver| format!("followed {driver}")).collect::<Vec<_>>().join(", "))
        })
    }
}
