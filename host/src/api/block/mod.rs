//! The Cinder v3 API. One verb a file; the tables of routes say method, path, first microversion, policy and success.

pub mod attachments;
pub mod body;
pub mod fields;
pub mod paging;
pub mod types;
pub mod views;
pub mod volume_metadata;
pub mod volumes;

use super::route::Route;

/// Every route of the block API.
pub fn routes() -> Vec<Route> {
    [volumes::ROUTES, volume_metadata::ROUTES, types::ROUTES, attachments::ROUTES].concat()
}
