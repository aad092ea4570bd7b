use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::message,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    message::delete(&req.app, &req.ctx, req.param("message_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
