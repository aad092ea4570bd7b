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
    subnet_values(&members)?;
    members.boolean("reset_operation")?;
    let zone = zone(&members)?;
    let compatible = check::check(&req.app, &req.ctx, req.param("network_id"), zone.as_deref()).await?;
    let mut shown = json!({ "compatible": compatible });
    if req.ctx.is_admin() {
        shown["hosts_check_result"] = json!({});
    }
    Reply::json(StatusCode::ACCEPTED, &shown)
}
