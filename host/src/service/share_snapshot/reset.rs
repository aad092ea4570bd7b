//! `reset_status`: an operator says what a snapshot is.

use super::destroy::event_now;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_snapshot::{MAY_BE_TOLD, ShareSnapshotStatus, joined},
    error::{Error, Result},
    service::share_refusal as refusal,
    store::sql::share_snapshots::ShareSnapshotRow,
};

/// # Errors
/// 400 for another word than those of [`MAY_BE_TOLD`], 403, 404.
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
pub(in crate::service) async fn write(
    app: &App,
    ctx: &RequestContext,
    found: &ShareSnapshotRow,
    status: ShareSnapshotStatus,
) -> Result<()> {
    tracing::warn!(snapshot_id = %found.id, was = found.status, status = %status, "an operator gives a share's snapshot another status");
    let mut tx = app.store.begin().await?;
    if !tx.share_snapshot_tell(&found.id, status, clock::now()).await? {
        return Err(refusal::snapshot_not_found(&found.id));
    }
    event_now(&mut tx, "share_snapshot.reset_status", &found.id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}
