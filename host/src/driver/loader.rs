//! From bytes to a back end, in two steps: a file is loaded once, then opened for each back end that uses it.
//!
//! The wasm implementation stands in `wasm/load.rs`; tests of the catalog bring their own. On failure nothing is left.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use thiserror::Error;

use super::{
    backend::{Backend, DriverIdentity},
    error::{DriverError, DriverResult},
};
use crate::config::BackendConfig;

/// Why bytes are no driver. Each names what the vendor or the operator can change.
#[derive(Debug, Clone, Error)]
pub enum LoadError {
    /// Not a component at all: garbage, a truncated file, a core module.
    #[error("not a component: {0}")]
    NotAComponent(String),
    /// Built against a version of the contract that this host does not serve.
    #[error("interface version: {0}")]
    Version(String),
    /// It imports what the host does not offer.
    #[error("imports: {0}")]
    Imports(String),
    /// An export is missing or is not shaped as the contract says.
    #[error("exports: {0}")]
    Exports(String),
    /// The trial instance failed.
    #[error("trial: {0}")]
    Trial(#[source] DriverError),
    /// The host itself could not load it now; the bytes may be good.
    #[error("{0}")]
    Host(String),
}

/// Turns bytes into a driver.
pub trait Loader: Send + Sync {
    /// Checks, compiles and tries a component. `file` is the stem of the file's name, which is how back ends name it.
    fn load<'a>(&'a self, file: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<Arc<dyn Driver>, LoadError>>;
}

/// A loaded driver: compiled once, used by any number of back ends.
pub trait Driver: Send + Sync {
    fn identity(&self) -> &DriverIdentity;

    /// Makes an incarnation that is ready to serve: options checked against what the driver describes, grants applied,
    /// `init` called, capabilities read.
    ///
    /// # Errors
    /// The driver's own, or `Invalid` with every fault of the configuration.
    fn open<'a>(&'a self, host: &'a str, config: Arc<BackendConfig>) -> BoxFuture<'a, DriverResult<Backend>>;
}
