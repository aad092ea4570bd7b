//! Pools, capabilities, availability zones.

mod capabilities;
mod pools;
mod zones;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Block,
        Verb::Get,
        "/scheduler-stats/get_pools",
        "scheduler_extension:scheduler_stats:get_pools",
        200,
        "List the pools that volumes are placed in",
        handler!(pools::pools),
    )
    .system_too()
    .query(&[
        ("detail", "boolean", "with what the driver reported"),
        ("name", "string", "filter, from 3.28"),
        ("volume_type", "string", "filter: pools that have what the type asks, from 3.35"),
    ]),
    Route::new(
        Api::Block,
        Verb::Get,
        "/capabilities/{host}",
        "volume_extension:capabilities",
        200,
        "Show what a back end can do",
        handler!(capabilities::show),
    )
    .system_too(),
    Route::new(Api::Block, Verb::Get, "/os-availability-zone", "", 200, "List availability zones", handler!(zones::list)).system_too(),
];
