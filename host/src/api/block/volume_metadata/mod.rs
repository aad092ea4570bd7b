//! `/volumes/{id}/metadata`.

mod remove;
mod set;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const ALL: &str = "/volumes/{volume_id}/metadata";
const ONE: &str = "/volumes/{volume_id}/metadata/{key}";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, ALL, "volume:get_volume_metadata", 200, "Show a volume's metadata", handler!(show::all)),
    Route::new(Api::Block, Verb::Post, ALL, "volume:create_volume_metadata", 200, "Add to a volume's metadata", handler!(set::merge))
        .body(&[("metadata", "object", "pairs of text")]),
    Route::new(
        Api::Block,
        Verb::Put,
        ALL,
        "volume:update_volume_metadata",
        200,
        "Replace a volume's metadata; If-Match counts from 3.15",
        handler!(set::replace),
    )
    .body(&[("metadata", "object", "pairs of text")]),
    Route::new(Api::Block, Verb::Get, ONE, "volume:get_volume_metadata", 200, "Show one value", handler!(show::one)),
    Route::new(Api::Block, Verb::Put, ONE, "volume:update_volume_metadata", 200, "Set one value", handler!(set::one)).body(&[(
        "meta",
        "object",
        "the pair; its key is the URL's",
    )]),
    Route::new(Api::Block, Verb::Delete, ONE, "volume:delete_volume_metadata", 200, "Remove one pair", handler!(remove::remove)),
];
