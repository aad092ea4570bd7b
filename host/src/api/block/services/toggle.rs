use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        members::{object, required},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::block_service::toggle,
};

pub async fn enable(req: ApiRequest) -> Result<Reply> {
    set(req, true, false).await
}

pub async fn disable(req: ApiRequest) -> Result<Reply> {
    set(req, false, false).await
}

pub async fn disable_with_reason(req: ApiRequest) -> Result<Reply> {
    set(req, false, true).await
}

pub async fn freeze(req: ApiRequest) -> Result<Reply> {
    set_frozen(req, true).await
}

pub async fn thaw(req: ApiRequest) -> Result<Reply> {
    set_frozen(req, false).await
}

async fn set(req: ApiRequest, enabled: bool, with_reason: bool) -> Result<Reply> {
    let body = object(&req)?;
    let host = required(&body, "host")?;
    let service = match body.get("binary") {
        Some(_) => required(&body, "binary")?,
        None => required(&body, "service")?,
    };
    let reason = if with_reason { Some(reason(&body)?) } else { None };
    toggle::enable(&req.app, &req.ctx, host, service, enabled, reason).await?;
    let mut shown = json!({
        "host": host, "service": service, "binary": service, "status": if enabled { "enabled" } else { "disabled" }, "disabled": !enabled,
    });
    if let Some(reason) = reason {
        shown["disabled_reason"] = json!(reason);
    }
    Reply::json(StatusCode::OK, &shown)
}

async fn set_frozen(req: ApiRequest, frozen: bool) -> Result<Reply> {
    let body = object(&req)?;
    toggle::freeze(&req.app, &req.ctx, required(&body, "host")?, frozen).await?;
    Ok(Reply::empty(StatusCode::OK))
}

fn reason(body: &Map<String, Value>) -> Result<&str> {
    let reason = required(body, "disabled_reason").map_err(|e| match body.get("disabled_reason") {
        Some(_) => Error::invalid("Disabled reason contains invalid characters or is too long"),
        None => e,
    })?;
    Ok(reason.trim())
}
