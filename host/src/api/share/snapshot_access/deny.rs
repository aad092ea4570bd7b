use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, object},
    },
    error::{Error, Result},
    service::snapshot_access::deny,
};

pub async fn deny(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let id = action(&body)?.text("access_id")?.ok_or_else(|| Error::invalid("Must specify 'access_id'."))?.to_owned();
    deny::deny(&req.app, &req.ctx, req.param("snapshot_id"), &id).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
