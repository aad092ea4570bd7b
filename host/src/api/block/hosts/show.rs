use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::block_service::host,
    store::sql::backend_usage::BackendUsage,
};

/// The sum over all projects stands first, under this name.
const TOTAL: &str = "(total)";

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let name = req.param("host");
    let usage = host::usage(&req.app, &req.ctx, name).await?;
    let shown: Vec<Value> = std::iter::once(&total(&usage)).chain(&usage).map(|u| render(name, u)).collect();
    Reply::json(StatusCode::OK, &json!({ "host": shown }))
}

fn total(usage: &[BackendUsage]) -> BackendUsage {
    let sum = |of: fn(&BackendUsage) -> i64| usage.iter().map(of).sum();
    BackendUsage {
        project_id: TOTAL.to_owned(),
        volumes: sum(|u| u.volumes),
        volume_gib: sum(|u| u.volume_gib),
        snapshots: sum(|u| u.snapshots),
        snapshot_gib: sum(|u| u.snapshot_gib),
    }
}

/// Numbers are texts here, as upstream has them.
fn render(host: &str, u: &BackendUsage) -> Value {
    json!({ "resource": {
        "host": host, "project": u.project_id, "volume_count": u.volumes.to_string(), "total_volume_gb": u.volume_gib.to_string(),
        "snapshot_count": u.snapshots.to_string(), "total_snapshot_gb": u.snapshot_gib.to_string(),
    } })
}
