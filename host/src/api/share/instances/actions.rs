use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{action, object},
            share_actions::reset::word,
        },
    },
    error::Result,
    service::share_instance::{force_delete as service, reset},
};

pub async fn reset_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    reset::status(&req.app, &req.ctx, req.param("instance_id"), word(&action(&body)?)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn force_delete(req: ApiRequest) -> Result<Reply> {
    service::force_delete(&req.app, &req.ctx, req.param("instance_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
