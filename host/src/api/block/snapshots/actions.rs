use http::StatusCode;

use crate::{
    api::{
        block::body::{Members, object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    domain::snapshot::{SnapshotStatus, progress},
    error::{Error, Result},
    service::snapshot,
};

pub async fn reset_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-reset_status", &[])?;
    members.deny_unknown(&["status"])?;
    snapshot::reset::reset(&req.app, &req.ctx, req.param("snapshot_id"), status(&members)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn update_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-update_snapshot_status", &[])?;
    members.deny_unknown(&["status", "progress"])?;
    let status = status(&members)?;
    let progress = match members.text("progress")? {
        None => None,
        Some(text) => Some(progress(text).ok_or_else(|| Error::invalid("progress must be an integer percentage"))?),
    };
    snapshot::tell::tell(&req.app, &req.ctx, req.param("snapshot_id"), status, progress.as_deref()).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn status(members: &Members<'_>) -> Result<SnapshotStatus> {
    let word = members.text("status")?.ok_or_else(|| Error::invalid("Must specify 'status'"))?;
    SnapshotStatus::parse(&word.to_ascii_lowercase()).ok_or_else(|| members.refuse("status", "is not a status of a snapshot"))
}
