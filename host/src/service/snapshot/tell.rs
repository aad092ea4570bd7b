//! `os-update_snapshot_status`: the compute service, which takes the snapshot of an attached volume on some back ends, says
//! how far it is.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::snapshot::{SnapshotStatus, may_be_told},
    error::{Error, Result},
    service::refusal,
};

/// # Errors
/// 400 when nobody may say so of a snapshot in its state, 403, 404.
pub async fn tell(app: &App, ctx: &RequestContext, id: &str, status: SnapshotStatus, progress: Option<&str>) -> Result<()> {
    super::load_for(app, ctx, id, "snapshot_extension:snapshot_actions:update_snapshot_status").await?;
    let mut tx = app.store.begin().await?;
    let Some(row) = tx.snapshot_locked(id).await? else { return Err(refusal::snapshot_not_found(id)) };
    let allowed = SnapshotStatus::parse(&row.status).map_or(&[][..], may_be_told);
    if !allowed.contains(&status) {
        return Err(Error::invalid(format!("Provided snapshot status {status} not allowed for snapshot with status {}.", row.status)));
    }
    tx.snapshot_tell(id, status, progress, clock::now()).await?;
    Ok(tx.commit().await?)
}
