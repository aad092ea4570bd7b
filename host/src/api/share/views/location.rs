//! Export locations.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    service::share_location::Location,
};

/// The pair that stands as a field of its own.
const PREFERRED: &str = "preferred";

/// `{"export_location": ...}`
pub fn one(req: &ApiRequest, location: &Location) -> Result<Reply> {
    let mut shown = summary(req, location);
    shown["created_at"] = json!(api_text(location.row.created_at));
    // a location that never changed was written when it was made
    shown["updated_at"] = json!(api_text(location.row.updated_at.unwrap_or(location.row.created_at)));
    Reply::json(StatusCode::OK, &json!({ "export_location": shown }))
}

/// `{"export_locations": [...]}`
pub fn many(req: &ApiRequest, locations: &[Location]) -> Result<Reply> {
    let shown: Vec<Value> = locations.iter().map(|l| summary(req, l)).collect();
    Reply::json(StatusCode::OK, &json!({ "export_locations": shown }))
}

fn summary(req: &ApiRequest, Location { row, metadata }: &Location) -> Value {
    let mut shown = json!({ "id": row.id, "path": row.path });
    if req.ctx.microversion >= 14 {
        shown["preferred"] = json!(row.preferred);
    }
    if req.ctx.microversion >= 87 {
        shown["metadata"] = json!(metadata.iter().filter(|(k, _)| k != PREFERRED).map(|(k, v)| (k, v)).collect::<BTreeMap<_, _>>());
    }
    if req.ctx.is_admin() {
        shown["share_instance_id"] = json!(row.share_instance_id);
        shown["is_admin_only"] = json!(row.admin_only);
    }
    shown
}
