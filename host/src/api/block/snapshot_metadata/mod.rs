//! `/snapshots/{id}/metadata`.

mod remove;
mod set;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const ALL: &str = "/snapshots/{snapshot_id}/metadata";
const ONE: &str = "/snapshots/{snapshot_id}/metadata/{key}";
const GET: &str = "volume:get_snapshot_metadata";
const SET: &str = "volume:update_snapshot_metadata";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, ALL, GET, 200, "Show a snapshot's metadata", handler!(show::all)),
    Route::new(Api::Block, Verb::Post, ALL, SET, 200, "Add to a snapshot's metadata", handler!(set::merge)).body(&[(
        "metadata",
        "object",
        "pairs of text",
    )]),
    Route::new(Api::Block, Verb::Put, ALL, SET, 200, "Replace a snapshot's metadata", handler!(set::replace)).body(&[(
        "metadata",
        "object",
        "pairs of text",
    )]),
    Route::new(Api::Block, Verb::Get, ONE, GET, 200, "Show one value", handler!(show::one)),
    Route::new(Api::Block, Verb::Put, ONE, SET, 200, "Set one value", handler!(set::one)).body(&[(
        "meta",
        "object",
        "the pair; its key is the URL's",
    )]),
    Route::new(Api::Block, Verb::Delete, ONE, "volume:delete_snapshot_metadata", 200, "Remove one pair", handler!(remove::remove)),
];
