use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, object},
    },
    error::{Error, Result},
    service::share,
};

pub async fn revert(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let snapshot = action(&body)?.text("snapshot_id")?.filter(|id| !id.is_empty());
    let snapshot = snapshot.ok_or_else(|| Error::invalid("Must specify 'snapshot_id'."))?;
    share::revert::revert(&req.app, &req.ctx, req.param("share_id"), snapshot).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
