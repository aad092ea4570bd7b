use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    domain::snapshot::progress,
    error::{Error, Result},
    service::snapshot::tell,
};

pub async fn update_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-update_snapshot_status", &[])?;
    members.deny_unknown(&["status", "progress"])?;
    let status = super::status(&members)?;
    let progress = match members.text("progress")? {
        None => None,
        Some(text) => Some(progress(text).ok_or_else(|| Error::invalid("progress must be an integer percentage"))?),
    };
    tell::tell(&req.app, &req.ctx, req.param("snapshot_id"), status, progress.as_deref()).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
