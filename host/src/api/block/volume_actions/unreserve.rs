use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::older::unreserve,
};

pub async fn unreserve(req: ApiRequest) -> Result<Reply> {
    unreserve::unreserve(&req.app, &req.ctx, req.param("volume_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
