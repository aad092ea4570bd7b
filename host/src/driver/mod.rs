//! What a driver is, without wasm: types, errors, one trait per interface of the contract (`wit/`), the back end that
//! carries them, and the catalog of back ends.
//!
//! Invariants: nothing here knows wasmtime; an interface a driver does not have is a `None` in [`Interfaces`], never a
//! call that fails; every verb may be repeated. On failure a verb gives a [`DriverError`], whose
//! [`may_have_happened`](DriverError::may_have_happened) decides between trying elsewhere and repeating here.

pub mod answer;
pub mod backend;
pub mod block;
pub mod call;
pub mod capability;
pub mod catalog;
pub mod egress;
pub mod error;
pub mod gate;
pub mod kit;
pub mod loader;
pub mod portals;
pub mod share;
pub mod types;

pub use crate::config::{BackendConfig, Grants};
pub use backend::{Backend, DriverIdentity, Interfaces};
pub use call::Call;
pub use capability::CapabilityReport;
pub use catalog::Catalog;
pub use error::{DriverError, DriverResult, ErrorKind};
pub use gate::Gate;
pub use loader::{Driver, LoadError, Loader};
