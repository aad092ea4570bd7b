//! `/stowage/v1/config`: the configuration in force, and reading it again.

use http::StatusCode;
use serde_json::json;

use super::{ADMIN, require_admin};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    config::{Config, ConfigError},
    error::{Error, Remedy, Result},
    handler, serve,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Admin,
        Verb::Get,
        "/config",
        ADMIN,
        200,
        "Show the configuration in force; secrets by where they come from",
        handler!(show),
    ),
    Route::new(
        Api::Admin,
        Verb::Post,
        "/config/reload",
        ADMIN,
        200,
        "Read the configuration file again and say what changed and what needs a restart",
        handler!(reload),
    ),
];

async fn show(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    let source = &req.app.config.source().file;
    Reply::json(StatusCode::OK, &json!({ "file": source, "config": Config::clone(&req.app.config.get()) }))
}

async fn reload(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    let report = serve::reload::reload(&req.app, "POST config/reload").await.map_err(|e| refused(&e))?;
    Reply::json(StatusCode::OK, &json!({ "reload": report }))
}

/// The file's findings, to the admin who can correct it.
fn refused(e: &ConfigError) -> Error {
    Error::invalid(format!("The configuration is refused, the old one stays. {e}")).with_remedy(Remedy::Operator)
}
