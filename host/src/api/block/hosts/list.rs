use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::{self, api_text},
    error::Result,
    service::block_service::{host, list::Service},
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let found = host::list(&req.app, &req.ctx).await?;
    Reply::json(StatusCode::OK, &json!({ "hosts": found.iter().map(render).collect::<Vec<_>>() }))
}

fn render(service: &Service) -> Value {
    let (zone, enabled, at) = match service {
        Service::Scheduler { zone, .. } => (zone, true, clock::now()),
        Service::Volume { row, .. } => (&row.availability_zone, row.enabled, row.reported_at.unwrap_or(row.updated_at)),
    };
    json!({
        "host_name": service.host(), "service": service.binary(), "zone": zone, "last-update": api_text(at),
        "service-status": if service.is_up() { "available" } else { "unavailable" },
        "service-state": if enabled { "enabled" } else { "disabled" },
    })
}
