//! What a client asks before it asks for anything: extensions and filters.

mod extensions;
mod filters;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Block,
        Verb::Get,
        "/extensions",
        "",
        200,
        "List the extensions of the older API that are served",
        handler!(extensions::list),
    )
    .system_too(),
    Route::new(Api::Block, Verb::Get, "/extensions/{alias}", "", 200, "Show an extension", handler!(extensions::show)).system_too(),
    Route::new(Api::Block, Verb::Get, "/resource_filters", "", 200, "List what each resource may be filtered by", handler!(filters::list))
        .system_too()
        .since(33)
        .query(&[("resource", "string", "of this resource only")]),
];
