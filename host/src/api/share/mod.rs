//! The Manila v2 API. One verb a file; the tables of routes say method, path, microversions, policy and success.
//!
//! Many names changed at 2.7, where `os-` was dropped: such a path or action has two rows, and each is unknown where the
//! other holds.

pub mod access_rules;
pub mod body;
pub mod discovery;
pub mod export_locations;
pub mod group_types;
pub mod instances;
pub mod messages;
pub mod quotas;
pub mod replicas;
pub mod resource_locks;
pub mod scheduling;
pub mod security_services;
pub mod services;
pub mod share_actions;
pub mod share_manage;
pub mod share_metadata;
pub mod share_network_subnets;
pub mod share_networks;
pub mod share_servers;
pub mod shares;
pub mod snapshot_access;
pub mod snapshot_instances;
pub mod snapshot_locations;
pub mod snapshot_metadata;
pub mod snapshots;
pub mod types;
pub mod views;

use super::route::Route;

/// Every route of the share API.
pub fn routes() -> Vec<Route> {
    [
        shares::ROUTES,
        share_actions::ROUTES,
        share_manage::ROUTES,
        share_metadata::ROUTES,
        access_rules::ROUTES,
        export_locations::ROUTES,
        instances::ROUTES,
        replicas::ROUTES,
        resource_locks::ROUTES,
        snapshots::ROUTES,
        snapshot_metadata::ROUTES,
        snapshot_access::ROUTES,
        snapshot_locations::ROUTES,
        snapshot_instances::ROUTES,
        types::ROUTES,
        share_networks::ROUTES,
        share_network_subnets::ROUTES,
        security_services::ROUTES,
        share_servers::ROUTES,
        group_types::ROUTES,
        quotas::ROUTES,
        messages::ROUTES,
        discovery::ROUTES,
        services::ROUTES,
        scheduling::ROUTES,
    ]
    .concat()
}
