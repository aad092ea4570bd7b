use http::StatusCode;
use serde_json::json;

use crate::{
    api::{block::views::attachment, reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::delete,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    let left = delete::delete(&req.app, &req.ctx, req.param("attachment_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "attachments": left.iter().map(attachment::summary).collect::<Vec<_>>() }))
}
