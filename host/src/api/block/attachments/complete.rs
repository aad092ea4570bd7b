use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::complete,
};

pub async fn complete(req: ApiRequest) -> Result<Reply> {
    complete::complete(&req.app, &req.ctx, req.param("attachment_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
