//! `/share-replicas`: no share has any, and lists say so. Clients look for a share's replicas before they delete it.

mod list;

use crate::{
    api::route::{Api, Handler, Route, Verb},
    handler,
};

const EXPERIMENTAL_SINCE: u16 = 11;
const SINCE: u16 = 56;

const fn list(path: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, Verb::Get, path, "share_replica:get_all", 200, "List the replicas of shares: there are none", handler)
        .query(&[("share_id", "string", "of this share alone")])
}

pub const ROUTES: &[Route] = &[
    list("/share-replicas", handler!(list::list)).since(EXPERIMENTAL_SINCE).until(SINCE - 1).experimental(),
    list("/share-replicas", handler!(list::list)).since(SINCE),
    list("/share-replicas/detail", handler!(list::list)).since(EXPERIMENTAL_SINCE).until(SINCE - 1).experimental(),
    list("/share-replicas/detail", handler!(list::list)).since(SINCE),
];
