//! `/stowage/v1/loops`: the reconcilers of this process.

use http::StatusCode;
use serde_json::json;

use super::{ADMIN, require_admin};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    error::{Error, Result},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Admin,
        Verb::Get,
        "/loops",
        ADMIN,
        200,
        "Show when each reconciler of this process last ran and how it ended",
        handler!(list),
    ),
    Route::new(Api::Admin, Verb::Post, "/loops/{name}/run", ADMIN, 202, "Run a reconciler soon", handler!(run)),
];

async fn list(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    Reply::json(StatusCode::OK, &json!({ "loops": req.app.reconcilers.status() }))
}

async fn run(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    if req.app.reconcilers.kick(req.param("name")) {
        Ok(Reply::empty(StatusCode::ACCEPTED))
    } else {
        Err(Error::not_found("There is no such loop."))
    }
}
