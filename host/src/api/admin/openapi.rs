//! `/stowage/v1/openapi.json`: every route of every API. Open: it tells nothing about what is stored.

use http::StatusCode;

use crate::{
    api::{
        openapi,
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    error::Result,
    handler,
};

pub const ROUTES: &[Route] = &[Route::new(Api::Admin, Verb::Get, "/openapi.json", "", 200, "Show this document", handler!(show)).public()];

async fn show(req: ApiRequest) -> Result<Reply> {
    Reply::json(StatusCode::OK, &openapi::document(&req.app.public_urls))
}
