//! `/os-services`.

mod failover;
mod list;
mod log_levels;
mod toggle;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const WHICH: &[(&str, &str, &str)] = &[("host", "string", "host@backend"), ("binary", "string", "cinder-volume")];

const FAILOVER: &str = "volume_extension:services:update,volume:failover_host";
const FAIL_OVER: &[(&str, &str, &str)] = &[
    ("host", "string", "host@backend"),
    ("backend_id", "string", "a replication target, default for the back end's own array, none for the driver's choice"),
    ("cluster", "string", "from 3.26, instead of the host; there are none"),
];

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
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/failover_host",
        FAILOVER,
        202,
        "Have a back end's volumes served from another array",
        handler!(failover::failover),
    )
    .system_too()
    .body(FAIL_OVER),
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/failover",
        FAILOVER,
        202,
        "Have a back end's volumes served from another array",
        handler!(failover::failover),
    )
    .since(26)
    .system_too()
    .body(FAIL_OVER),
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/set-log",
        "volume_extension:services:update",
        202,
        "Set the log level of running processes",
        handler!(log_levels::set),
    )
    .since(32)
    .system_too()
    .body(&[
        ("level", "string", "ERROR, WARNING, INFO or DEBUG"),
        ("binary", "string", "cinder-api, cinder-scheduler, cinder-volume; empty or * for all"),
        ("server", "string", "a process, its machine, or the host; empty for all"),
        ("prefix", "string", "of what is logged; empty for all"),
    ]),
    Route::new(
        Api::Block,
        Verb::Put,
        "/os-services/get-log",
        "volume_extension:services:update",
        200,
        "Show the log levels of running processes",
        handler!(log_levels::get),
    )
    .since(32)
    .system_too()
    .body(&[
        ("binary", "string", "cinder-api, cinder-scheduler, cinder-volume; empty or * for all"),
        ("server", "string", "a process, its machine, or the host; empty for all"),
        ("prefix", "string", "of what is logged; empty for all"),
    ]),
];
