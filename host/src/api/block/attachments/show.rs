use http::StatusCode;
use serde_json::json;

use crate::{
    api::{block::views::attachment, reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = show::show(&req.app, &req.ctx, req.param("attachment_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "attachment": attachment::detail(&found) }))
}
