//! The Cinder v3 API. One verb a file; the tables of routes say method, path, first microversion, policy and success.

pub mod attachments;
pub mod discovery;
pub mod fields;
pub mod hosts;
pub mod messages;
pub mod qos_specs;
pub mod quotas;
pub mod resource_filters;
pub mod scheduling;
pub mod services;
pub mod snapshot_metadata;
pub mod snapshots;
pub mod transfers;
pub mod types;
pub mod views;
pub mod volume_actions;
pub mod volume_metadata;
pub mod volumes;

use super::route::Route;

/// Every route of the block API.
pub fn routes() -> Vec<Route> {
    [
        volumes::ROUTES,
        volume_metadata::ROUTES,
        volume_actions::ROUTES,
        volume_actions::attaching::ROUTES,
        snapshots::ROUTES,
        snapshot_metadata::ROUTES,
        transfers::ROUTES,
        types::ROUTES,
        attachments::ROUTES,
        services::ROUTES,
        hosts::ROUTES,
        scheduling::ROUTES,
        qos_specs::ROUTES,
        quotas::ROUTES,
        messages::ROUTES,
        discovery::ROUTES,
    ]
    .concat()
}
