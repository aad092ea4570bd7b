//! `/stowage/v1/notifications`: how the events' way out does.

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
    service::webhook,
};

pub const ROUTES: &[Route] = &[Route::new(
    Api::Admin,
    Verb::Get,
    "/notifications",
    ADMIN,
    200,
    "Show how the webhook does: what waits for it, what it took, what was dropped, and why it is paused",
    handler!(show),
)];

async fn show(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    Reply::json(StatusCode::OK, &json!({ "webhook": webhook::show(&req.app).await? }))
}
