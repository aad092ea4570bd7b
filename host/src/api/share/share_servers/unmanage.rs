use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, object},
    },
    error::Result,
    service::share_server::unmanage,
};

pub async fn unmanage(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    // `{"unmanage": null}` as clients send it
    let force = match body.get("unmanage") {
        Some(serde_json::Value::Object(_)) => action(&body)?.boolean("force")?.unwrap_or(false),
        _ => false,
    };
    unmanage::unmanage(&req.app, &req.ctx, req.param("server_id"), force).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
