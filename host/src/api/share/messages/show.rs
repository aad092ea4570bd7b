use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    scheduler::BackendKind,
    service::message,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = message::show(&req.app, &req.ctx, BackendKind::Share, req.param("message_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "message": super::render(&req, &found) }))
}
