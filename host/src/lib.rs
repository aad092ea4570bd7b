//! Stowage: one binary that does the job of Cinder (block volumes) and Manila (shared file systems).
//!
//! The tree is the request: `api` parses, `policy` permits, `domain` says what may follow what, `service` commits one
//! transaction, `jobs` carry the work out through `scheduler` and `driver` (implemented by `wasm`), `notify` tells.
//! Handlers have no rules, rules have no IO, SQL lives only in `store`, wasm only in `wasm`.

pub mod api;
pub mod app;
pub mod clock;
pub mod config;
pub mod context;
pub mod copy;
pub mod domain;
pub mod driver;
pub mod error;
pub mod jobs;
pub mod keystone;
pub mod network;
pub mod node;
pub mod notify;
pub mod policy;
pub mod program;
pub mod quota;
pub mod reconcile;
pub mod scheduler;
pub mod serve;
pub mod service;
pub mod store;
pub mod telemetry;
pub mod wasm;
