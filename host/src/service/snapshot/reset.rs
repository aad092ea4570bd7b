//! `os-reset_status` of a snapshot: an operator says what its status is. What belongs to a job that would not be there is refused,
//! and so is any status while a job takes or deletes the snapshot.

use super::hold::hold_found;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::snapshot::{NEVER_TOLD, SnapshotStatus},
    error::{Error, Result},
    service::{decided, refusal},
};

/// # Errors
/// 400 for a status that belongs to a job, and while a job of [`decided::SNAPSHOT`] is under way, 403, 404.
pub async fn reset(app: &App, ctx: &RequestContext, id: &str, status: SnapshotStatus) -> Result<()> {
    let row = super::load_for(app, ctx, id, "volume_extension:snapshot_admin_actions:reset_status").await?.row;
    if NEVER_TOLD.contains(&status) {
        return Err(Error::invalid(format!("Cannot reset-state to {status}.")));
    }
    let (mut tx, held) = hold_found(app, &row).await?;
    let refuse = |job: &str| refusal::invalid_snapshot(decided::says("Snapshot", id, &held.status, job));
    decided::check(&mut tx, id, decided::SNAPSHOT, refuse).await?;
    tracing::warn!(snapshot_id = id, was = held.status, is = %status, "an operator gives a snapshot another status");
    super::destroy::event(&mut tx, "snapshots.reset_status.start", &row, &ctx.request_id).await?;
    if !tx.snapshot_tell(id, status, None, clock::now()).await? {
        return Err(refusal::snapshot_not_found(id));
    }
    if let Some(now) = tx.snapshot(id).await? {
        super::destroy::event(&mut tx, "snapshots.reset_status.end", &now, &ctx.request_id).await?;
    }
    Ok(tx.commit().await?)
}
