//! `/stowage/v1/backends`: every back end with its state, its last report and its pools.

use http::StatusCode;
use serde_json::json;

use super::{ADMIN, require_admin};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    error::Result,
    handler,
    service::backend,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Admin,
        Verb::Get,
        "/backends",
        ADMIN,
        200,
        "List the back ends: up or down and why, what their drivers last reported, how much of each pool is given",
        handler!(list),
    ),
    Route::new(
        Api::Admin,
        Verb::Get,
        "/backends/{host}/ensure",
        ADMIN,
        200,
        "Show how far the ensuring of a back end's shares, or of its connected volumes' exports, is, or how it ended; null when there was none",
        handler!(ensure),
    ),
];

async fn list(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    Reply::json(StatusCode::OK, &json!({ "backends": backend::list(&req.app).await? }))
}

async fn ensure(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    let found = backend::ensured(&req.app, req.param("host")).await?;
    Reply::json(StatusCode::OK, &json!({ "ensure": found }))
}
