use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, object},
    },
    error::{Error, Result},
    service::share_server::reset,
};

pub async fn reset_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let status = action(&body)?.text("status")?.ok_or_else(|| Error::invalid("Must specify 'status'"))?;
    reset::status(&req.app, &req.ctx, req.param("server_id"), status).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn reset_task_state(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    if !members.has("task_state") {
        return Err(Error::invalid("Must specify 'task_state'."));
    }
    reset::task_state(&req.app, &req.ctx, req.param("server_id"), members.text("task_state")?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
