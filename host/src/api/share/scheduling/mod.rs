//! `/scheduler-stats/pools`.

mod pools;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const FILTERS: &[(&str, &str, &str)] = &[
    ("host", "string", "filter"),
    ("backend", "string", "filter"),
    ("pool", "string", "filter"),
    ("share_type", "string", "id or name: pools that suit it, from 2.23"),
];

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Share,
        Verb::Get,
        "/scheduler-stats/pools",
        "scheduler_stats:pools:index",
        200,
        "List the pools",
        handler!(pools::list),
    )
    .query(FILTERS),
    Route::new(
        Api::Share,
        Verb::Get,
        "/scheduler-stats/pools/detail",
        "scheduler_stats:pools:detail",
        200,
        "List the pools with what they can do",
        handler!(pools::detail),
    )
    .query(FILTERS),
];
