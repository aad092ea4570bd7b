use http::StatusCode;
use serde_json::json;

use super::list::REASON_SINCE;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{object, required},
    },
    error::Result,
    service::share_service::toggle,
};

pub async fn enable(req: ApiRequest) -> Result<Reply> {
    set(req, true).await
}

pub async fn disable(req: ApiRequest) -> Result<Reply> {
    set(req, false).await
}

async fn set(req: ApiRequest, enabled: bool) -> Result<Reply> {
    let body = object(&req)?;
    let (host, binary) = (required(&body, "host")?, required(&body, "binary")?);
    let reasoned = req.ctx.microversion >= REASON_SINCE && !enabled;
    let reason = if reasoned && body.get("disabled_reason").is_some_and(|r| !r.is_null()) {
        Some(required(&body, "disabled_reason")?.trim())
    } else {
        None
    };
    toggle::enable(&req.app, &req.ctx, host, binary, enabled, reason).await?;
    let mut shown = json!({ "host": host, "binary": binary, "disabled": !enabled });
    if req.ctx.microversion >= REASON_SINCE {
        shown["status"] = json!(if enabled { "enabled" } else { "disabled" });
        shown["disabled_reason"] = json!(reason);
    }
    Reply::json(StatusCode::OK, &shown)
}
