//! `/shares/{id}/metadata`.

mod set;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const ALL: &str = "/shares/{share_id}/metadata";
const ONE: &str = "/shares/{share_id}/metadata/{key}";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, ALL, "share:get_share_metadata", 200, "Show a share's metadata", handler!(show::all)),
    Route::new(Api::Share, Verb::Post, ALL, "share:update_share_metadata", 200, "Add to a share's metadata", handler!(set::merge))
        .body(&[("metadata", "object", "pairs of text")]),
    Route::new(Api::Share, Verb::Put, ALL, "share:update_share_metadata", 200, "Replace a share's metadata", handler!(set::replace))
        .body(&[("metadata", "object", "pairs of text")]),
    Route::new(Api::Share, Verb::Get, ONE, "share:get_share_metadata", 200, "Show one value", handler!(show::one)),
    Route::new(Api::Share, Verb::Post, ONE, "share:update_share_metadata", 200, "Set one value", handler!(set::one)).body(&[(
        "metadata",
        "object",
        "the pair; its key is the URL's",
    )]),
    Route::new(Api::Share, Verb::Delete, ONE, "share:delete_share_metadata", 200, "Remove one pair", handler!(set::remove)),
];
