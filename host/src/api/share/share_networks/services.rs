//! A network's security services: add, remove, replace, and asking whether one could.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, action, malformed, object},
            views,
        },
    },
    error::Result,
    service::share_network::{add_service, check_service, remove_service, replace_service},
};

pub async fn add(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let service = id(&action(&body)?, "security_service_id")?;
    let network = add_service::add(&req.app, &req.ctx, req.param("network_id"), service).await?;
    views::share_network::one(&req, StatusCode::OK, &network)
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let service = id(&action(&body)?, "security_service_id")?;
    let network = remove_service::remove(&req.app, &req.ctx, req.param("network_id"), service).await?;
    views::share_network::one(&req, StatusCode::OK, &network)
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let (current, new) = both(&body)?;
    let network = replace_service::replace(&req.app, &req.ctx, req.param("network_id"), current, new).await?;
    views::share_network::one(&req, StatusCode::ACCEPTED, &network)
}

pub async fn check_add(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    members.boolean("reset_operation")?;
    let service = id(&members, "security_service_id")?;
    check_service::add(&req.app, &req.ctx, req.param("network_id"), service).await?;
    compatible(&req, "add_security_service", None, service)
}

pub async fn check_replace(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    action(&body)?.boolean("reset_operation")?;
    let (current, new) = both(&body)?;
    check_service::replace(&req.app, &req.ctx, req.param("network_id"), current, new).await?;
    compatible(&req, "update_security_service", Some(current), new)
}

fn id<'b>(members: &Members<'b>, key: &str) -> Result<&'b str> {
    members.text(key)?.ok_or_else(malformed)
}

fn both(body: &Map<String, Value>) -> Result<(&str, &str)> {
    let members = action(body)?;
    Ok((id(&members, "current_service_id")?, id(&members, "new_service_id")?))
}

/// What was asked would do; no driver had to be asked.
fn compatible(req: &ApiRequest, operation: &str, current: Option<&str>, new: &str) -> Result<Reply> {
    let mut shown = json!({
        "compatible": true,
        "requested_operation": { "operation": operation, "current_security_service": current, "new_security_service": new },
    });
    if req.ctx.is_admin() {
        shown["hosts_check_result"] = json!({});
    }
    Reply::json(StatusCode::ACCEPTED, &shown)
}
