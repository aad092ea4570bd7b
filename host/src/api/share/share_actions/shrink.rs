use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, gib, object},
    },
    error::Result,
    service::share,
};

pub async fn shrink(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    let to_gib = gib(&members, "new_size", "New share size must be specified as an integer.")?;
    share::shrink::shrink(&req.app, &req.ctx, req.param("share_id"), to_gib).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
