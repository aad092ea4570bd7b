//! The wasm implementation of [`driver`](crate::driver): a component in, a back end out.
//!
//! Bytes are checked and compiled once ([`load`], [`cache`]); every call then gets a fresh instance under the limits of
//! its back end ([`limits`]), speaking the version of the contract the component was built against ([`v0_1`]). A guest
//! reaches the world only through [`host_fn`]. Whatever a guest does ends as a typed error on that one call.

pub mod cache;
pub mod compile;
pub mod contract;
pub mod engine;
pub mod grants;
pub mod host_fn;
pub mod limits;
pub mod load;
pub mod state;
pub mod v0_1;
pub mod watch;
