//! `/shares/{id}/export_locations`, and their metadata from 2.87.

mod list;
mod metadata;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const LOCATIONS: &str = "/shares/{share_id}/export_locations";
const LOCATION: &str = "/shares/{share_id}/export_locations/{location_id}";
const ALL: &str = "/shares/{share_id}/export_locations/{location_id}/metadata";
const ONE: &str = "/shares/{share_id}/export_locations/{location_id}/metadata/{key}";
/// From here on locations are a resource of their own.
pub(super) const SINCE: u16 = 9;
const METADATA_SINCE: u16 = 87;
const READ: &str = "share_export_location:get_metadata";
const WRITE: &str = "share_export_location:update_metadata";

const fn route(
    method: Verb,
    path: &'static str,
    policy: &'static str,
    summary: &'static str,
    handler: crate::api::route::Handler,
) -> Route {
    Route::new(Api::Share, method, path, policy, 200, summary, handler)
}

pub const ROUTES: &[Route] = &[
    route(Verb::Get, LOCATIONS, "share_export_location:index", "List where a share can be mounted", handler!(list::list)).since(SINCE),
    route(Verb::Get, LOCATION, "share_export_location:show", "Show an export location", handler!(show::show)).since(SINCE),
    route(Verb::Get, ALL, READ, "Show a location's metadata", handler!(metadata::all)).since(METADATA_SINCE),
    route(Verb::Post, ALL, WRITE, "Add to a location's metadata", handler!(metadata::merge)).since(METADATA_SINCE).body(&[(
        "metadata",
        "object",
        "pairs of text",
    )]),
    route(Verb::Put, ALL, WRITE, "Replace a location's metadata", handler!(metadata::replace)).since(METADATA_SINCE).body(&[(
        "metadata",
        "object",
        "pairs of text",
    )]),
    route(Verb::Get, ONE, READ, "Show one value", handler!(metadata::one)).since(METADATA_SINCE),
    route(Verb::Post, ONE, WRITE, "Set one value", handler!(metadata::set_one)).since(METADATA_SINCE).body(&[(
        "metadata",
        "object",
        "the pair; its key is the URL's",
    )]),
    route(Verb::Delete, ONE, "share_export_location:delete_metadata", "Remove one pair", handler!(metadata::remove)).since(METADATA_SINCE),
];
