use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{action, object},
            share_network_subnets::values::{subnet_values, zone},
        },
    },
    error::Result,
    service::share_network_subnet::check,
};

pub async fn check(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    let values = subnet_values(&members)?;
    let anew = members.boolean("reset_operation")?.unwrap_or(false);
    let zone = zone(&members)?;
    let found = check::check(&req.app, &req.ctx, req.param("network_id"), values, zone, anew).await?;
    let mut shown = json!({ "compatible": found.compatible });
    if req.ctx.is_admin() {
        shown["hosts_check_result"] = json!(found.hosts);
        // ours, beside what released clients know
        if !found.reasons.is_empty() {
            shown["hosts_check_reasons"] = json!(found.reasons);
        }
    }
    Reply::json(StatusCode::ACCEPTED, &shown)
}
