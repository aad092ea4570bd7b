//! `GET .../export-locations/{id}`.

use super::{instance_for, snapshot_for};
use crate::{app::App, context::RequestContext, error::Result, store::sql::snapshot_access::SnapshotLocationRow};

/// # Errors
/// 403 also for a location that is not for everybody, 404.
pub async fn of_snapshot(app: &App, ctx: &RequestContext, snapshot_id: &str, id: &str) -> Result<SnapshotLocationRow> {
    let snapshot = snapshot_for(app, ctx, snapshot_id, "share_snapshot_export_location:show").await?;
    super::of_instance(app, ctx, &snapshot.instance_id, id).await
}

/// # Errors
/// 403, 404.
pub async fn of_instance(app: &App, ctx: &RequestContext, instance_id: &str, id: &str) -> Result<SnapshotLocationRow> {
    instance_for(app, ctx, instance_id, "share_snapshot_instance_export_location:show").await?;
    super::of_instance(app, ctx, instance_id, id).await
}
