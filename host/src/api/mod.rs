//! The only place that knows HTTP and JSON.
//!
//! Every API is a table of [`route::Route`]s; `dispatch` finds the row, negotiates the microversion, authenticates, and
//! calls the handler. A handler parses, calls one service, renders; it has no `if` about state. The same table gives the
//! OpenAPI document and the coverage page, so a route cannot exist without them.

pub mod reply;
pub mod request;
pub mod route;
