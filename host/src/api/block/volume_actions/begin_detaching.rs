use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::older::begin_detaching,
};

pub async fn begin_detaching(req: ApiRequest) -> Result<Reply> {
    begin_detaching::begin_detaching(&req.app, &req.ctx, req.param("volume_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
