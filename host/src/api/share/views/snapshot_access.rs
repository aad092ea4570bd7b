//! Who may mount a snapshot, and where.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{fields::Look, reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    store::sql::snapshot_access::{SnapshotLocationRow, SnapshotRuleRow},
};

/// `{"snapshot_access": ...}`
pub fn rule(row: &SnapshotRuleRow) -> Result<Reply> {
    Reply::json(StatusCode::ACCEPTED, &json!({ "snapshot_access": shown(row) }))
}

/// `{"snapshot_access_list": [...]}`
pub fn rules(rows: &[SnapshotRuleRow]) -> Result<Reply> {
    let all: Vec<Value> = rows.iter().map(shown).collect();
    Reply::json(StatusCode::OK, &json!({ "snapshot_access_list": all }))
}

fn shown(row: &SnapshotRuleRow) -> Value {
    json!({ "id": row.id, "access_type": row.access_type, "access_to": row.access_to, "state": row.state })
}

/// `{"share_snapshot_export_location": ...}`
pub fn location(req: &ApiRequest, row: &SnapshotLocationRow) -> Result<Reply> {
    let mut shown = summary(req, row);
    shown["created_at"] = json!(api_text(row.created_at));
    // a location that never changed was written when it was made
    shown["updated_at"] = json!(api_text(row.updated_at.unwrap_or(row.created_at)));
    Reply::json(StatusCode::OK, &json!({ "share_snapshot_export_location": shown }))
}

/// `{"share_snapshot_export_locations": [...]}`
pub fn locations(req: &ApiRequest, rows: &[SnapshotLocationRow]) -> Result<Reply> {
    let all: Vec<Value> = rows.iter().map(|l| summary(req, l)).collect();
    Reply::json(StatusCode::OK, &json!({ "share_snapshot_export_locations": all }))
}

fn summary(req: &ApiRequest, row: &SnapshotLocationRow) -> Value {
    let look = Look::of(req);
    let link = |base: &str, rel: &str| json!({ "rel": rel, "href": format!("{base}/share_snapshot_export_locations/{}", row.id) });
    let mut shown = json!({
        "id": row.id,
        "path": row.path,
        "links": [link(&look.base_url, "self"), link(&look.bookmark_url, "bookmark")],
    });
    if req.ctx.is_admin() {
        shown["share_snapshot_instance_id"] = json!(row.snapshot_instance_id);
        shown["is_admin_only"] = json!(row.admin_only);
    }
    shown
}
