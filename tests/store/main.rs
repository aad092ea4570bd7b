//! The store's contract: every function behaves the same on SQLite and on PostgreSQL. One module an aggregate; each test
//! body runs on both ([`support::both_databases!`]).

mod connect_turns;
mod dialect;
mod driver_blobs;
mod driver_kv;
mod driver_locks;
mod jobs;
mod messages;
mod migrate;
mod network_allocations;
mod outbox;
mod quota;
mod schema;
mod settings;
mod share_networks;
mod subnet_checks;
mod tombstones;
mod webhook;
mod workers;
