//! `/stowage/v1/placements/{resource}`: why a resource went where it went, or nowhere.

use http::StatusCode;
use serde_json::{Value, json};

use super::{ADMIN, require_admin};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    clock,
    error::{Error, Result},
    handler,
    store::sql::placements::PlacementRow,
};

pub const ROUTES: &[Route] = &[Route::new(
    Api::Admin,
    Verb::Get,
    "/placements/{resource}",
    ADMIN,
    200,
    "Show the newest decisions about a volume, snapshot or share: the pool taken with its weight, and a reason for every other one",
    handler!(show),
)];

async fn show(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    let resource = req.param("resource");
    let rows = req.app.store.placements(resource).await?;
    if rows.is_empty() {
        return Err(Error::not_found(format!("No placement of {resource} is kept.")));
    }
    let placements: Vec<Value> = rows.iter().map(view).collect();
    Reply::json(StatusCode::OK, &json!({ "placements": placements }))
}

fn view(row: &PlacementRow) -> Value {
    // what an older version wrote is shown as it is
    let detail: Value = serde_json::from_str(&row.detail).unwrap_or_default();
    json!({
        "resource_id": row.resource_id,
        "resource_kind": row.resource_kind,
        "operation": row.operation,
        "project_id": row.project_id,
        "request_id": row.request_id,
        "size_gib": row.size_gib,
        "pool": row.pool,
        "limit": row.limit_kind,
        "at": clock::utc_text(row.created_at),
        "ranked": detail["ranked"],
        "rejected": detail["rejected"],
        "left_out": detail["left_out"],
    })
}
