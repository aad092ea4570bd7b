use http::StatusCode;

use crate::{
    api::{members::sole_flag, reply::Reply, request::ApiRequest},
    error::Result,
    service::volume::readonly,
};

pub async fn readonly(req: ApiRequest) -> Result<Reply> {
    let flag = sole_flag(&req, "os-update_readonly_flag", "readonly")?;
    readonly::set(&req.app, &req.ctx, req.param("volume_id"), flag).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
