use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::older::reserve,
};

pub async fn reserve(req: ApiRequest) -> Result<Reply> {
    reserve::reserve(&req.app, &req.ctx, req.param("volume_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
