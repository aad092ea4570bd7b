//! `/services`, `/os-services` before 2.7.

mod ensure;
mod list;
mod toggle;

use crate::{
    api::{
        route::{Api, Handler, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const ENSURE_SINCE: u16 = 86;

const fn list_at(path: &'static str) -> Route {
    Route::new(Api::Share, Verb::Get, path, "service:index", 200, "List the services", handler!(list::list)).query(&[
        ("host", "string", "filter"),
        ("binary", "string", "filter"),
        ("zone", "string", "filter"),
        ("status", "string", "enabled or disabled"),
        ("state", "string", "up or down"),
        ("ensuring", "boolean", "filter, from 2.93"),
    ])
}

const fn toggle(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, Verb::Put, path, "service:update", 200, summary, handler).body(&[
        ("host", "string", "host@backend"),
        ("binary", "string", "manila-share"),
        ("disabled_reason", "string", "why, from 2.83"),
    ])
}

const fn ensure(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, Verb::Post, path, "service:ensure_shares", 202, summary, handler).since(ENSURE_SINCE)
}

const ENABLE: &str = "Let new shares come to a back end";
const DISABLE: &str = "Give a back end nothing new";

pub const ROUTES: &[Route] = &[
    list_at("/os-services").until(WITH_OS_UNTIL),
    list_at("/services").since(WITHOUT_OS_SINCE),
    toggle("/os-services/enable", ENABLE, handler!(toggle::enable)).until(WITH_OS_UNTIL),
    toggle("/services/enable", ENABLE, handler!(toggle::enable)).since(WITHOUT_OS_SINCE),
    toggle("/os-services/disable", DISABLE, handler!(toggle::disable)).until(WITH_OS_UNTIL),
    toggle("/services/disable", DISABLE, handler!(toggle::disable)).since(WITHOUT_OS_SINCE),
    ensure("/services/ensure", "Ensure the shares of an idle back end; 409 when it is not idle", handler!(ensure::strict)).body(&[(
        "host",
        "string",
        "host@backend",
    )]),
    ensure("/services/ensure-shares", "Ensure the shares of a back end; busy ones at the end", handler!(ensure::patient)).body(&[(
        "host",
        "string",
        "host@backend, here or in ensure_shares",
    )]),
];
