use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, object},
    },
    error::{Error, Result},
    service::share_access::deny,
};

/// From here on the caller's locks may go with the rule.
const UNLOCK_SINCE: u16 = 82;

pub async fn deny(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    let id = members.text("access_id")?.ok_or_else(|| Error::invalid("Must specify 'access_id'."))?;
    let unlock = req.ctx.microversion >= UNLOCK_SINCE && members.boolean("unrestrict")?.unwrap_or(false);
    deny::deny(&req.app, &req.ctx, req.param("share_id"), id, unlock).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
