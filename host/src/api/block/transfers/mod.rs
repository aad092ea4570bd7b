//! `/volume-transfers`, and `/os-volume-transfer` as it was called first: one behaviour.

mod accept;
mod create;
mod delete;
mod list;
mod show;

use crate::{
    api::route::{Api, Handler, Route, Verb},
    handler,
};

const fn route(verb: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Block, verb, path, policy, success, summary, handler)
}

macro_rules! routes {
    ($($name:literal),+) => {
        &[$(
            route(Verb::Post, $name, "volume:create_transfer", 202, "Offer a volume to whoever has the key", handler!(create::create))
                .body(CREATE_BODY),
            route(Verb::Get, $name, "volume:get_all_transfers", 200, "List transfers", handler!(list::summaries)).query(LIST_QUERY),
            route(Verb::Get, concat!($name, "/detail"), "volume:get_all_transfers", 200, "List transfers in full", handler!(list::details))
                .query(LIST_QUERY),
            route(Verb::Get, concat!($name, "/{transfer_id}"), "volume:get_transfer", 200, "Show a transfer", handler!(show::show)),
            route(Verb::Post, concat!($name, "/{transfer_id}/accept"), "volume:accept_transfer", 202, "Take a volume", handler!(accept::accept))
                .body(&[("accept.auth_key", "string", "the key that the offer's answer had")]),
            route(Verb::Delete, concat!($name, "/{transfer_id}"), "volume:delete_transfer", 202, "Withdraw an offer", handler!(delete::delete)),
        )+]
    };
}

pub const ROUTES: &[Route] = routes!("/volume-transfers", "/os-volume-transfer");

const CREATE_BODY: &[(&str, &str, &str)] = &[
    ("transfer.volume_id", "string", "the volume"),
    ("transfer.name", "string", "at most 255 characters"),
    ("transfer.no_snapshots", "boolean", "its snapshots stay, from 3.55; before, they always do"),
];

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("marker", "string", "begin after the transfer with this id, which may be over"),
    ("offset", "integer", "skip this many"),
    ("sort", "string", "key[:direction],..."),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("volume_id", "string", "filter"),
    ("name", "string", "filter"),
];
