//! The only place that knows HTTP and JSON.
//!
//! Every API is a table of [`route::Route`]s; [`dispatch`] finds the row, negotiates the microversion, authenticates, and
//! calls the handler. A handler parses, calls one service, renders; it has no `if` about state. The same table gives the
//! OpenAPI document and the coverage page, so a route cannot exist without them.

pub mod admin;
pub mod auth;
pub mod block;
pub mod body;
pub mod dispatch;
pub mod fault;
pub mod fields;
pub mod filter;
pub mod identity;
pub mod members;
pub mod microversion;
pub mod openapi;
pub mod page;
pub mod paging;
pub mod reply;
pub mod request;
pub mod route;
pub mod share;
pub mod strict;
pub mod target;
pub mod tree;
pub mod versions;

use route::{Api, Route};

/// Every row of one API: what its listener serves and what the OpenAPI document shows.
pub fn routes(api: Api) -> Vec<Route> {
    let mut rows = versions::routes(api);
    match api {
        Api::Identity => rows.extend(identity::routes()),
        Api::Block => rows.extend(block::routes()),
        Api::Admin => rows.extend(admin::routes()),
        Api::Share => rows.extend(share::routes()),
    }
    rows
}
