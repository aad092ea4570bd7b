use http::StatusCode;

use crate::{
    api::{
        block::body::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::volume,
};

pub async fn readonly(req: ApiRequest) -> Result<Reply> {
    let flag = flag(&req, "os-update_readonly_flag", "readonly")?;
    volume::readonly::set(&req.app, &req.ctx, req.param("volume_id"), flag).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn bootable(req: ApiRequest) -> Result<Reply> {
    let flag = flag(&req, "os-set_bootable", "bootable")?;
    volume::bootable::set(&req.app, &req.ctx, req.param("volume_id"), flag).await?;
    Ok(Reply::empty(StatusCode::OK))
}

fn flag(req: &ApiRequest, action: &str, key: &str) -> Result<bool> {
    let body = object(req)?;
    let members = sole_member(&body, action, &[])?;
    members.deny_unknown(&[key])?;
    members.boolean(key)?.ok_or_else(|| members.refuse(key, "is required"))
}
