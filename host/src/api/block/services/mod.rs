//! `/os-services`.

mod list;
mod toggle;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const WHICH: &[(&str, &str, &str)] = &[("host", "string", "host@backend"), ("binary", "string", "cinder-volume")];

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, "/os-services", "volume_extension:services:index", 200, "List services", handler!(list::list))
        .system_too()
        .query(&[("host", "string", "filter"), ("binary", "string", "filter")]),
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/enable",
        "volume_extension:services:update",
        200,
        "Enable a back end",
        handler!(toggle::enable),
    )
    .system_too()
    .body(WHICH),
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/disable",
        "volume_extension:services:update",
        200,
        "Give a back end nothing new",
        handler!(toggle::disable),
    )
    .system_too()
    .body(WHICH),
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/disable-log-reason",
        "volume_extension:services:update",
        200,
        "Give a back end nothing new, and say why",
        handler!(toggle::disable_with_reason),
    )
    .system_too()
    .body(&[
        ("host", "string", "host@backend"),
        ("binary", "string", "cinder-volume"),
        ("disabled_reason", "string", "1 to 255 characters"),
    ]),
    Route::new(Api::Block, Verb::Put, "/os-services/freeze", "volume:freeze_host", 200, "Freeze a back end", handler!(toggle::freeze))
        .system_too()
        .body(&[("host", "string", "host@backend")]),
    Route::new(Api::Block, Verb::Put, "/os-services/thaw", "volume:thaw_host", 200, "Thaw a back end", handler!(toggle::thaw))
        .system_too()
        .body(&[("host", "string", "host@backend")]),
];
