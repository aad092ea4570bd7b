use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    scheduler::BackendKind,
    service::message,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    message::delete(&req.app, &req.ctx, BackendKind::Block, req.param("message_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
