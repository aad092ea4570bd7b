//! The built-in Keystone v3 subset: what clients, and Tempest's dynamic credentials, ask.

mod auth;
mod catalog;
mod domains;
mod grants;
mod login;
mod network;
mod projects;
mod roles;
mod users;
mod views;

use super::{request::ApiRequest, route::Route};
use crate::error::{Error, Result};

/// The rows of the identity API.
pub fn routes() -> Vec<Route> {
    [auth::ROUTES, catalog::ROUTES, domains::ROUTES, projects::ROUTES, users::ROUTES, roles::ROUTES, grants::ROUTES, network::ROUTES]
        .concat()
}

/// A filter that is a yes or no.
fn flag(req: &ApiRequest, key: &str) -> Result<Option<bool>> {
    let Some(text) = req.query_value(key) else { return Ok(None) };
    if text.is_empty() {
        return Ok(Some(true)); // a bare key, as Keystone takes it
    }
    let value = super::filter::boolean(text)
        .ok_or_else(|| Error::invalid(format!("Invalid value for the query key '{key}': write true or false.")))?;
    Ok(Some(value))
}
