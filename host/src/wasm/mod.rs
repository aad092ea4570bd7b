//! The wasm implementation of [`driver`](crate::driver): a component in, a back end out.

pub mod egress;
pub mod grants;
pub mod host_fn;
pub mod watch;
