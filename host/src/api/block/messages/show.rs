use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::message,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = message::show(&req.app, &req.ctx, req.param("message_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "message": super::render(&req, &found) }))
}
