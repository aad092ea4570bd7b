use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::older::roll_detaching,
};

pub async fn roll_detaching(req: ApiRequest) -> Result<Reply> {
    roll_detaching::roll_detaching(&req.app, &req.ctx, req.param("volume_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
