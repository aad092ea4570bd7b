use http::StatusCode;

use crate::{
    api::{members::sole_flag, reply::Reply, request::ApiRequest},
    error::Result,
    service::volume::bootable,
};

pub async fn bootable(req: ApiRequest) -> Result<Reply> {
    let flag = sole_flag(&req, "os-set_bootable", "bootable")?;
    bootable::set(&req.app, &req.ctx, req.param("volume_id"), flag).await?;
    Ok(Reply::empty(StatusCode::OK))
}
