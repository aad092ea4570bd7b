//! The wasm implementation of [`driver`](crate::driver): a component in, a back end out.

pub mod egress;
pub mod host_fn;
