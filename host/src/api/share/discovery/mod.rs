//! What a client asks before it asks for anything: extensions and availability zones.

mod extensions;
mod zones;

use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const fn zones(path: &'static str) -> Route {
    Route::new(Api::Share, Verb::Get, path, "availability_zone:index", 200, "List availability zones", handler!(zones::list))
}

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Share,
        Verb::Get,
        "/extensions",
        "",
        200,
        "List the extensions of the older API that are served",
        handler!(extensions::list),
    ),
    Route::new(Api::Share, Verb::Get, "/extensions/{alias}", "", 200, "Show an extension", handler!(extensions::show)),
    zones("/os-availability-zone").until(WITH_OS_UNTIL),
    zones("/availability-zones").since(WITHOUT_OS_SINCE),
];
