use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::{self, api_text},
    error::Result,
    service::{
        block_service::list::{self, binary},
        parts::Part,
    },
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let wanted = req.query_value("binary").or_else(|| req.query_value("service"));
    let found = list::list(&req.app, &req.ctx, req.query_value("host"), wanted).await?;
    let shown: Vec<Value> = found.iter().map(|s| render(s, req.ctx.microversion)).collect();
    Reply::json(StatusCode::OK, &json!({ "services": shown }))
}

fn render(service: &Part, minor: u16) -> Value {
    let state = |up| if up { "up" } else { "down" };
    let up = service.is_up();
    let mut shown = match service {
        Part::Scheduler { host, zone } => json!({
            "binary": binary(service), "host": host, "zone": zone, "status": "enabled", "state": state(up),
            "updated_at": api_text(clock::now()), "disabled_reason": null,
        }),
        Part::Backend { row, .. } => json!({
            "binary": binary(service),
            "host": row.host,
            "zone": row.availability_zone,
            // as upstream: whoever is frozen is given nothing, and says so where only these two are looked at
            "status": if row.enabled && !row.frozen { "enabled" } else { "disabled" },
            "state": state(up),
            "updated_at": api_text(row.reported_at.unwrap_or(row.updated_at)),
            "disabled_reason": row.disabled_reason.as_deref().or(row.frozen.then_some("frozen")),
            "replication_status": row.replication_status(),
            "active_backend_id": row.active_backend_id,
            "frozen": row.frozen,
        }),
    };
    if minor >= 7 {
        shown["cluster"] = Value::Null;
    }
    if minor >= 49 && matches!(service, Part::Backend { .. }) {
        shown["backend_state"] = json!(state(service.storage_is_up()));
    }
    shown
}
