//! Our own API, `/stowage/v1`: what an operator asks about drivers, back ends and jobs. Role `admin` only; health and
//! metrics are open to whoever reaches the listener.

mod backends;
mod config;
mod drivers;
mod health;
mod jobs;
mod loops;
mod notifications;
mod openapi;
mod placements;
mod share_servers;

use super::{request::ApiRequest, route::Route};
use crate::error::{Error, Result};

/// Every row of the admin API.
pub fn routes() -> Vec<Route> {
    [
        health::ROUTES,
        drivers::ROUTES,
        jobs::ROUTES,
        loops::ROUTES,
        config::ROUTES,
        backends::ROUTES,
        placements::ROUTES,
        share_servers::ROUTES,
        notifications::ROUTES,
        openapi::ROUTES,
    ]
    .concat()
}

/// What the rows' `policy` says.
const ADMIN: &str = "role:admin";

/// # Errors
/// [`Kind::Forbidden`](crate::error::Kind::Forbidden).
fn require_admin(req: &ApiRequest) -> Result<()> {
    if req.ctx.is_admin() { Ok(()) } else { Err(Error::forbidden("The admin API is for the role admin.")) }
}
