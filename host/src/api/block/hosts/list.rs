use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    service::{
        block_service::{host, list::binary},
        parts::Part,
    },
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let found = host::list(&req.app, &req.ctx).await?;
    Reply::json(StatusCode::OK, &json!({ "hosts": found.iter().map(render).collect::<Vec<_>>() }))
}

fn render(part: &Part) -> Value {
    json!({
        "host_name": part.host(), "service": binary(part), "zone": part.zone(), "last-update": api_text(part.updated_at()),
        "service-status": if part.is_up() { "available" } else { "unavailable" },
        "service-state": if part.is_enabled() { "enabled" } else { "disabled" },
    })
}
