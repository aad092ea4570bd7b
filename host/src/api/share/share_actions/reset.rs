use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{Members, action, object},
    },
    error::{Error, Result},
    service::share::reset,
};

pub async fn status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    reset::status(&req.app, &req.ctx, req.param("share_id"), word(&action(&body)?)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn task_state(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    if !members.has("task_state") {
        return Err(Error::invalid("Must specify 'task_state'."));
    }
    reset::task_state(&req.app, &req.ctx, req.param("share_id"), members.text("task_state")?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

/// The status a body says.
pub fn word<'a>(members: &Members<'a>) -> Result<&'a str> {
    members.text("status")?.ok_or_else(|| Error::invalid("Must specify 'status'."))
}
