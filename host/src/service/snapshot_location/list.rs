//! `GET .../export-locations`.

use super::{instance_for, snapshot_for};
use crate::{app::App, context::RequestContext, error::Result, store::sql::snapshot_access::SnapshotLocationRow};

/// # Errors
/// 403, 404.
pub async fn of_snapshot(app: &App, ctx: &RequestContext, id: &str) -> Result<Vec<SnapshotLocationRow>> {
    let snapshot = snapshot_for(app, ctx, id, "share_snapshot_export_location:index").await?;
    visible(app, ctx, &snapshot.instance_id).await
}

/// # Errors
/// 403, 404.
pub async fn of_instance(app: &App, ctx: &RequestContext, instance_id: &str) -> Result<Vec<SnapshotLocationRow>> {
    instance_for(app, ctx, instance_id, "share_snapshot_instance_export_location:index").await?;
    visible(app, ctx, instance_id).await
}

async fn visible(app: &App, ctx: &RequestContext, instance_id: &str) -> Result<Vec<SnapshotLocationRow>> {
    let rows = app.store.snapshot_locations(instance_id).await?;
    Ok(rows.into_iter().filter(|l| ctx.is_admin() || !l.admin_only).collect())
}
