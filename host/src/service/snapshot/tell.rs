//! `os-update_snapshot_status`: the compute service, which takes the snapshot of an attached volume on some back ends, says
//! how far it is. What a job of this service works on is told by that job alone.

use super::hold::hold;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::snapshot::{SnapshotStatus, may_be_told},
    error::{Error, Result},
    service::refusal,
};

/// # Errors
/// 400 when nobody may say so of a snapshot in its state or a job has it in hand, 403, 404.
pub async fn tell(app: &App, ctx: &RequestContext, id: &str, status: SnapshotStatus, progress: Option<&str>) -> Result<()> {
    let (mut tx, row) = hold(app, ctx, id, "snapshot_extension:snapshot_actions:update_snapshot_status").await?;
    let allowed = SnapshotStatus::parse(&row.status).map_or(&[][..], may_be_told);
    if !allowed.contains(&status) {
        return Err(Error::invalid(format!("Provided snapshot status {status} not allowed for snapshot with status {}.", row.status)));
    }
    if let Some(job) = tx.job_on(id).await? {
        return Err(refusal::invalid_snapshot(format!("Snapshot {id} is {}: job {job} says what comes of it.", row.status)));
    }
    tx.snapshot_tell(id, status, progress, clock::now()).await?;
    Ok(tx.commit().await?)
}
