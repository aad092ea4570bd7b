//! Share servers.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    store::sql::share_servers::ShareServer,
};

/// In these versions a server has one subnet,
const ONE_SUBNET_SINCE: u16 = 51;
/// and from here on a list.
const SEVERAL_SINCE: u16 = 70;

/// `{"share_server": ...}`
pub fn one(req: &ApiRequest, server: &ShareServer) -> Result<Reply> {
    whole(req, server, StatusCode::OK)
}

/// The same, of one that is being taken over.
pub fn accepted(req: &ApiRequest, server: &ShareServer) -> Result<Reply> {
    whole(req, server, StatusCode::ACCEPTED)
}

fn whole(req: &ApiRequest, server: &ShareServer, status: StatusCode) -> Result<Reply> {
    let mut shown = render(req.ctx.microversion, server);
    shown["created_at"] = json!(api_text(server.row.created_at));
    shown["backend_details"] = json!(server.row.details()?.into_iter().collect::<BTreeMap<_, _>>());
    Reply::json(status, &json!({ "share_server": shown }))
}

/// `{"share_servers": [...]}`
pub fn many(req: &ApiRequest, servers: &[ShareServer]) -> Result<Reply> {
    let shown: Vec<Value> = servers.iter().map(|s| render(req.ctx.microversion, s)).collect();
    Reply::json(StatusCode::OK, &json!({ "share_servers": shown }))
}

fn render(minor: u16, server: &ShareServer) -> Value {
    let row = &server.row;
    let mut shown = json!({
        "id": row.id,
        "project_id": row.project_id,
        "updated_at": row.updated_at.map(api_text),
        "status": row.status,
        "host": row.backend,
        "share_network_name": row.network_name.as_deref().filter(|n| !n.is_empty()).unwrap_or(&row.share_network_id),
        "share_network_id": row.share_network_id,
    });
    for (name, since, value) in [
        ("is_auto_deletable", 49, json!(row.is_auto_deletable)),
        ("identifier", 49, json!(row.identifier)),
        ("task_state", 57, json!(row.task_state)),
        ("source_share_server_id", 57, json!(row.source_share_server_id)),
        ("security_service_update_support", 63, json!(row.security_service_update_support)),
        ("share_network_subnet_ids", SEVERAL_SINCE, json!(server.subnet_ids)),
        ("network_allocation_update_support", SEVERAL_SINCE, json!(row.network_allocation_update_support)),
        ("encryption_key_ref", 90, Value::Null),
    ] {
        if minor >= since {
            shown[name] = value;
        }
    }
    if (ONE_SUBNET_SINCE..SEVERAL_SINCE).contains(&minor) {
        shown["share_network_subnet_id"] = json!(server.subnet_ids.first());
    }
    shown
}
