//! The use cases, one verb a file. Each goes the same four steps: validate, authorise, decide, commit.
//!
//! A service knows neither HTTP nor SQL text. Whatever changes state does so in one transaction together with the job that
//! owns the new state, the quota and the event. On a refusal nothing was written.

pub mod attachment;
pub mod backend;
pub mod block_service;
pub(crate) mod decided;
pub mod identity;
pub mod log_level;
pub mod message;
pub mod metadata;
pub mod network_refusal;
pub mod page;
pub mod parts;
pub mod pool;
pub mod qos_specs;
pub mod quota;
pub mod refusal;
pub mod resource_lock;
pub mod security_service;
pub mod share;
pub mod share_access;
pub mod share_group_type;
pub mod share_instance;
pub mod share_location;
pub mod share_metadata;
pub mod share_network;
pub mod share_network_subnet;
pub mod share_quota;
pub mod share_refusal;
pub mod share_server;
pub mod share_service;
pub mod share_snapshot;
pub mod share_snapshot_instance;
pub mod share_type;
pub mod snapshot;
pub mod snapshot_access;
pub mod snapshot_location;
pub mod snapshot_metadata;
pub mod transfer;
pub mod type_event;
pub mod volume;
pub mod volume_metadata;
pub mod volume_type;
pub mod webhook;

use std::collections::BTreeMap;

use crate::{
    app::App,
    store::{StoreResult, sql::backends::BackendKind},
};

/// A service's availability zones by name, and whether an enabled back end is in them. The default zone always is one.
pub async fn zones(app: &App, kind: BackendKind) -> StoreResult<Vec<(String, bool)>> {
    let mut zones = BTreeMap::from([(app.config.get().block.default_availability_zone.clone(), true)]);
    for backend in app.store.backends(Some(kind)).await? {
        let available = zones.entry(backend.availability_zone).or_insert(false);
        *available |= backend.configured && backend.enabled;
    }
    Ok(zones.into_iter().collect())
}
