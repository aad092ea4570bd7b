use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::volume::extend,
};

/// From here on an attached volume may be extended.
const EXTEND_IN_USE_SINCE: u16 = 42;

pub async fn extend(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-extend", &[])?;
    members.deny_unknown(&["new_size"])?;
    let to_gib = members.size("new_size")?.ok_or_else(|| Error::invalid("New volume size must be specified as an integer."))?;
    let online = req.ctx.microversion >= EXTEND_IN_USE_SINCE;
    extend::extend(&req.app, &req.ctx, req.param("volume_id"), to_gib, online).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
