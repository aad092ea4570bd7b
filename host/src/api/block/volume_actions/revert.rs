use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::volume::revert,
};

pub async fn revert(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "revert", &[])?;
    members.deny_unknown(&["snapshot_id"])?;
    let snapshot_id = members.uuid("snapshot_id")?.ok_or_else(|| members.refuse("snapshot_id", "is required"))?;
    revert::revert(&req.app, &req.ctx, req.param("volume_id"), snapshot_id).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
