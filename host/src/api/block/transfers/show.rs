use http::StatusCode;
use serde_json::json;

use crate::{
    api::{block::views::transfer, reply::Reply, request::ApiRequest},
    error::Result,
    service::transfer::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = show::show(&req.app, &req.ctx, req.param("transfer_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "transfer": transfer::detail(&req, &found) }))
}
