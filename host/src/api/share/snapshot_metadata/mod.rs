//! `/snapshots/{id}/metadata`, from 2.73.

mod set;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const ALL: &str = "/snapshots/{snapshot_id}/metadata";
const ONE: &str = "/snapshots/{snapshot_id}/metadata/{key}";
const SINCE: u16 = 73;

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, ALL, "share_snapshot:get_metadata", 200, "Show a snapshot's metadata", handler!(show::all))
        .since(SINCE),
    Route::new(Api::Share, Verb::Post, ALL, "share_snapshot:update_metadata", 200, "Add to a snapshot's metadata", handler!(set::merge))
        .since(SINCE)
        .body(&[("metadata", "object", "pairs of text")]),
    Route::new(Api::Share, Verb::Put, ALL, "share_snapshot:update_metadata", 200, "Replace a snapshot's metadata", handler!(set::replace))
        .since(SINCE)
        .body(&[("metadata", "object", "pairs of text")]),
    Route::new(Api::Share, Verb::Get, ONE, "share_snapshot:get_metadata", 200, "Show one value", handler!(show::one)).since(SINCE),
    Route::new(Api::Share, Verb::Post, ONE, "share_snapshot:update_metadata", 200, "Set one value", handler!(set::one))
        .since(SINCE)
        .body(&[("metadata", "object", "the pair; its key is the URL's")]),
    Route::new(Api::Share, Verb::Delete, ONE, "share_snapshot:delete_metadata", 200, "Remove one pair", handler!(set::remove)).since(SINCE),
];
