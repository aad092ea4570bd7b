use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        members::{deny_unknown, object},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::block_service::host,
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["status"])?;
    let enabled = match body.get("status").and_then(|s| s.as_str()).map(str::trim) {
        Some("enable") => true,
        Some("disable") => false,
        _ => return Err(Error::invalid("Invalid status: it is either 'enable' or 'disable'.")),
    };
    let name = req.param("host");
    host::enable(&req.app, &req.ctx, name, enabled).await?;
    Reply::json(StatusCode::OK, &json!({ "host": name, "status": if enabled { "enabled" } else { "disabled" } }))
}
