use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::snapshot::reset,
};

pub async fn reset_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-reset_status", &[])?;
    members.deny_unknown(&["status"])?;
    reset::reset(&req.app, &req.ctx, req.param("snapshot_id"), super::status(&members)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
