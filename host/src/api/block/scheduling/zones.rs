use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let zones = service::zones(&req.app).await?;
    let shown: Vec<Value> =
        zones.into_iter().map(|(zone, available)| json!({ "zoneName": zone, "zoneState": { "available": available } })).collect();
    Reply::json(StatusCode::OK, &json!({ "availabilityZoneInfo": shown }))
}
