//! What the host offers to a driver, one capability a file, in plain Rust: no wasm type stands here, and each version of
//! the contract adapts its own bindings to it.
//!
//! Everything is scoped to one back end or one call; nothing acts once the call's lease is gone or its deadline has passed.

pub mod clock;
pub mod config;
pub mod http;
pub mod keys;
pub mod kv;
pub mod lock;
pub mod log;
pub mod progress;
pub mod secrets;
pub mod session;
