use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::pool,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let host = req.param("host");
    let (backend, pool) = pool::capabilities(&req.app, &req.ctx, host).await?;
    let mut known = backend.capabilities();
    if let Some(pool) = &pool {
        known.extend(pool.capabilities());
    }
    let text = |key: &str| match known.get(key) {
        Some(Value::Array(all)) => all.first().cloned().unwrap_or(Value::Null),
        Some(value) => value.clone(),
        None => Value::Null,
    };
    Reply::json(
        StatusCode::OK,
        &json!({
            "namespace": format!("OS::Storage::Capabilities::{}", backend.host),
            "vendor_name": text("vendor_name"),
            "volume_backend_name": text("volume_backend_name"),
            "pool_name": host.split_once('#').map(|(_, pool)| pool),
            "driver_version": text("driver_version"),
            "storage_protocol": text("storage_protocol"),
            "display_name": text("display_name"),
            "description": text("description"),
            "visibility": "public",
            "replication_targets": known.get("replication_targets").cloned().unwrap_or_else(|| json!([])),
            "properties": properties(&known),
        }),
    )
}

/// What extra specs may ask of this back end, as upstream describes it.
fn properties(known: &Map<String, Value>) -> Value {
    let flag = |title: &str, description: &str| json!({ "title": title, "description": description, "type": "boolean" });
    let mut shown = Map::new();
    for (key, title, description) in [
        ("thin_provisioning_support", "Thin Provisioning", "Sets thin provisioning."),
        ("compression", "Compression", "Enables compression."),
        ("qos", "QoS", "Enables QoS."),
        ("replication_enabled", "Replication", "Enables replication."),
        ("multiattach", "Multi-attach", "Volumes may be attached more than once."),
    ] {
        if known.contains_key(key) {
            shown.insert(key.trim_end_matches("_support").to_owned(), flag(title, description));
        }
    }
    Value::Object(shown)
}
