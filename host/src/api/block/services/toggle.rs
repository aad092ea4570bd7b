use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{block::body::object, reply::Reply, request::ApiRequest},
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
    let host = text(&body, "host")?;
    let service = match body.get("binary") {
        Some(_) => text(&body, "binary")?,
        None => text(&body, "service")?,
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
    toggle::freeze(&req.app, &req.ctx, text(&body, "host")?, frozen).await?;
    Ok(Reply::empty(StatusCode::OK))
}

fn text<'a>(body: &'a Map<String, Value>, key: &str) -> Result<&'a str> {
    match body.get(key) {
        Some(Value::String(s)) if !s.trim().is_empty() && s.chars().count() <= 255 => Ok(s),
        Some(_) => Err(Error::invalid(format!("Invalid input for field/attribute {key}. A text of 1 to 255 characters is needed."))),
        None => Err(Error::invalid(format!("Missing required element '{key}' in request body."))),
    }
}

fn reason(body: &Map<String, Value>) -> Result<&str> {
    let reason = text(body, "disabled_reason").map_err(|e| match body.get("disabled_reason") {
        Some(_) => Error::invalid("Disabled reason contains invalid characters or is too long"),
        None => e,
    })?;
    Ok(reason.trim())
}
