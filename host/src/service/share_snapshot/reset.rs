//! `reset_status`: an operator says what a snapshot is, unless a job that is under way decides it.

use super::destroy::event_now;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_snapshot::{MAY_BE_TOLD, ShareSnapshotStatus, joined},
    error::{Error, Result},
    service::{decided, share_refusal as refusal},
    store::sql::share_snapshots::ShareSnapshotRow,
};

/// # Errors
/// 400 for another word than those of [`MAY_BE_TOLD`] and as [`write`], 403, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share_snapshot:reset_status").await?;
    write(app, ctx, &found, allowed(word, MAY_BE_TOLD)?).await
}

/// The status of this word, if an operator may say it.
///
/// # Errors
/// 400.
pub fn allowed(word: &str, states: &[ShareSnapshotStatus]) -> Result<ShareSnapshotStatus> {
    ShareSnapshotStatus::parse(word)
        .filter(|s| states.contains(s))
        .ok_or_else(|| Error::invalid(format!("Invalid status {word:.64?}. Valid statuses: {}.", joined(states))))
}

/// Of snapshot and instance together.
///
/// # Errors
/// 400 while a job of [`decided::SHARE_SNAPSHOT`] is under way, its share is being reverted to it, or its share's server moves; 404.
pub(in crate::service) async fn write(
    app: &App,
    ctx: &RequestContext,
    found: &ShareSnapshotRow,
    status: ShareSnapshotStatus,
) -> Result<()> {
    let id = found.id.as_str();
    let mut tx = app.store.begin().await?;
    // the share first, as everywhere
    tx.share_locked(&found.share_id).await?;
    let Some(snapshot) = tx.share_snapshot_locked(id).await? else { return Err(refusal::snapshot_not_found(id)) };
    let refuse = |job: &str| refusal::invalid_snapshot(decided::says("Snapshot", id, &snapshot.status, job));
    decided::check(&mut tx, id, decided::SHARE_SNAPSHOT, refuse).await?;
    decided::check_stays(&mut tx, snapshot.share_server_id.as_deref(), refuse).await?;
    if snapshot.status == ShareSnapshotStatus::Restoring.as_str() {
        decided::check(&mut tx, &found.share_id, decided::SHARE_OF_RESTORING, refuse).await?;
    }
    tracing::warn!(snapshot_id = id, was = snapshot.status, status = %status, "an operator gives a share's snapshot another status");
    tx.share_snapshot_tell(id, status, clock::now()).await?;
    event_now(&mut tx, "share_snapshot.reset_status", &found.id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}
