use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, gib, object},
    },
    error::{Error, Result},
    service::share,
};

const FORCE_SINCE: u16 = 64;

pub async fn extend(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    let to_gib = gib(&members, "new_size", "New share size must be specified as an integer.")?;
    let force = if req.ctx.microversion >= FORCE_SINCE {
        members.boolean("force").map_err(|_| Error::invalid("Invalid boolean force"))?.unwrap_or(false)
    } else {
        false
    };
    share::extend::extend(&req.app, &req.ctx, req.param("share_id"), to_gib, force).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
