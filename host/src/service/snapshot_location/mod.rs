//! Where snapshots of shares can be mounted. Locations for administrators only are hidden from others.

pub mod list;
pub mod show;

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{share_refusal as refusal, share_snapshot, share_snapshot_instance},
    store::sql::{share_snapshots::ShareSnapshotRow, snapshot_access::SnapshotLocationRow},
};

/// The snapshot of these locations: one that cannot be mounted has none.
async fn snapshot_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareSnapshotRow> {
    let row = share_snapshot::load_row_for(app, ctx, id, action).await?;
    if !row.mount_snapshot_support {
        return Err(Error::not_found(format!("Snapshot {id} has no export locations: its share does not support mounting snapshots.")));
    }
    Ok(row)
}

/// The instance's snapshot, for whoever administers instances.
async fn instance_for(app: &App, ctx: &RequestContext, instance_id: &str, action: &str) -> Result<ShareSnapshotRow> {
    share_snapshot_instance::load_for(app, ctx, instance_id, action).await
}

/// A location of this instance, if the caller may see it.
async fn of_instance(app: &App, ctx: &RequestContext, instance_id: &str, id: &str) -> Result<SnapshotLocationRow> {
    let Some(row) = app.store.snapshot_location(instance_id, id).await? else { return Err(refusal::location_not_found(id)) };
    if row.admin_only && !ctx.is_admin() {
        return Err(Error::forbidden(format!("Export location {} is for administrators only.", row.id)));
    }
    Ok(row)
}
