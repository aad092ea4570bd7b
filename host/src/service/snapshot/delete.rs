//! `DELETE /snapshots/{id}` and `os-force_delete`. Reads after the 202 show `deleting`. A snapshot of which the back end
//! certainly holds nothing is gone when the call returns.

use std::sync::Arc;

use serde_json::json;

use super::{destroy, hold::hold_found};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    jobs::NewJob,
    quota::QuotaError,
    service::refusal,
    store::{
        Tx,
        sql::snapshots::{CopySource, SnapshotRow},
    },
};

/// # Errors
/// 400 when its state or a copy under way does not allow it, 403, 404.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_for(app, ctx, id, "volume:delete_snapshot").await?.row;
    begin(app, ctx, &found, false).await
}

/// Whatever its status.
///
/// # Errors
/// 400 while it is being copied, 403, 404.
pub async fn force_delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_for(app, ctx, id, "volume_extension:snapshot_admin_actions:force_delete").await?.row;
    begin(app, ctx, &found, true).await
}

async fn begin(app: &Arc<App>, ctx: &RequestContext, found: &SnapshotRow, force: bool) -> Result<()> {
    let id = found.id.as_str();
    let (mut tx, snapshot) = hold_found(app, found).await?;
    if let Some(copy) = tx.being_copied(CopySource::Snapshot, id).await? {
        return Err(refusal::invalid_snapshot(format!("Snapshot {id} is being copied to volume {copy}; delete it when that has ended.")));
    }
    if !tx.snapshot_begin_delete(id, force, clock::now()).await? {
        return Err(refusal::invalid_snapshot(format!(
            "Snapshot status must be available or error, and must not be part of a group snapshot. Its status is {}.",
            snapshot.status
        )));
    }
    at_once_or_by_job(app, ctx, &mut tx, &snapshot).await?;
    Ok(tx.commit().await?)
}

/// A snapshot that was just put to `deleting` (`snapshot` is what it was before) goes now, or gets its job.
pub(in crate::service) async fn at_once_or_by_job(app: &App, ctx: &RequestContext, tx: &mut Tx, snapshot: &SnapshotRow) -> Result<()> {
    destroy::event(tx, "snapshot.delete.start", snapshot, &ctx.request_id).await?;
    match &snapshot.host {
        Some(host) if snapshot.backed => {
            let job = super::job(app, ctx, &snapshot.volume_id, host, &snapshot.id, "snapshot.delete");
            tx.enqueue(&app.jobs, NewJob { payload: json!({ "was": snapshot.status }), ..job }).await?;
        }
        _ => {
            destroy::remove(tx, &snapshot.id, &ctx.request_id).await.map_err(|e| match e {
                QuotaError::Store(e) => Error::from(e),
                other => Error::internal(other),
            })?;
        }
    }
    Ok(())
}
