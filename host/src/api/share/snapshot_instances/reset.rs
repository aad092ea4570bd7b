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
    service::share_snapshot_instance::reset,
};

pub async fn reset_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    reset::status(&req.app, &req.ctx, req.param("instance_id"), word(&action(&body)?)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
