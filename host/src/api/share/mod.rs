//! The Manila v2 API. One verb a file; the tables of routes say method, path, microversions, policy and success.
//!
//! Many names changed at 2.7, where `os-` was dropped: such a path or action has two rows, and each is unknown where the
//! other holds.

pub mod access_rules;
pub mod body;
pub mod discovery;
pub mod export_locations;
pub mod instances;
pub mod share_actions;
pub mod share_metadata;
pub mod shares;
pub mod types;
pub mod views;

use super::route::Route;

/// Every route of the share API.
pub fn routes() -> Vec<Route> {
    [
        shares::ROUTES,
        share_actions::ROUTES,
        share_metadata::ROUTES,
        access_rules::ROUTES,
        export_locations::ROUTES,
        instances::ROUTES,
        types::ROUTES,
        discovery::ROUTES,
    ]
    .concat()
}
