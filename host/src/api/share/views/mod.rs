//! What clients read. Rows are rendered once, straight into the answer.

pub mod access;
pub mod group_type;
pub mod instance;
pub mod location;
pub mod lock;
pub mod security_service;
pub mod share;
pub mod share_network;
pub mod share_server;
pub mod share_server_migration;
pub mod share_type;
pub mod snapshot;
pub mod snapshot_access;
pub mod subnet;
