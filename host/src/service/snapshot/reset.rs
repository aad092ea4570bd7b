//! `os-reset_status` of a snapshot: an operator says what its status is. What belongs to a job that would not be there is refused.

use super::hold::hold_found;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::snapshot::{NEVER_TOLD, SnapshotStatus},
    error::{Error, Result},
    service::refusal,
};

/// # Errors
/// 400 for a status that belongs to a job, 403, 404.
pub async fn reset(app: &App, ctx: &RequestContext, id: &str, status: SnapshotStatus) -> Result<()> {
    let row = super::load_for(app, ctx, id, "volume_extension:snapshot_admin_actions:reset_status").await?.row;
    if NEVER_TOLD.contains(&status) {
        return Err(Error::invalid(format!("Cannot reset-state to {status}.")));
    }
    tracing::warn!(snapshot_id = id, was = row.status, is = %status, "an operator gives a snapshot another status");
    let (mut tx, _) = hold_found(app, &row).await?;
    super::destroy::event(&mut tx, "snapshots.reset_status.start", &row, &ctx.request_id).await?;
    if !tx.snapshot_tell(id, status, None, clock::now()).await? {
        return Err(refusal::snapshot_not_found(id));
    }
    if let Some(now) = tx.snapshot(id).await? {
        super::destroy::event(&mut tx, "snapshots.reset_status.end", &now, &ctx.request_id).await?;
    }
    Ok(tx.commit().await?)
}
