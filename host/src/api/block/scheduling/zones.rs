use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    scheduler::BackendKind,
    service,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let zones = service::zones(&req.app, BackendKind::Block).await?;
    let shown: Vec<Value> =
        zones.into_iter().map(|(zone, available)| json!({ "zoneName": zone, "zoneState": { "available": available } })).collect();
    Reply::json(StatusCode::OK, &json!({ "availabilityZoneInfo": shown }))
}
