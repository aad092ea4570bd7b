//! `revert` (2.27): the share gets the content of its latest snapshot back.

use std::sync::Arc;

use serde_json::json;

use super::{check_not_busy, check_not_in_bin, destroy::event_now, network};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        share::{RulesStatus, ShareStatus},
        share_snapshot::ShareSnapshotStatus,
    },
    error::{Error, Kind, Result},
    service::{share_refusal as refusal, share_snapshot},
    store::sql::{share_snapshots::ShareSnapshotRow, shares::ShareRow},
};

/// # Errors
/// 400 when the share cannot be reverted or the snapshot is not one of it, 403 also for a share in the recycle bin, 404, 409
/// when the state of either does not allow it, it is not the latest snapshot, or the share has another size by now.
pub async fn revert(app: &Arc<App>, ctx: &RequestContext, id: &str, snapshot_id: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share:revert_to_snapshot").await?;
    let snapshot = share_snapshot::load_row_for(app, ctx, snapshot_id, "share_snapshot:get_snapshot").await.map_err(|e| match e.kind {
        Kind::NotFound => Error::invalid(format!("Share snapshot {snapshot_id:.64} could not be found.")),
        _ => e,
    })?;
    check_able(&found, &snapshot)?;
    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    network::keep(&mut tx, found.share_network_id.as_deref()).await?;
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    check_not_in_bin(&share, "revert")?;
    decide(&share, tx.latest_share_snapshot(id).await?.as_ref(), &snapshot)?;
    let now = clock::now();
    if !tx.share_status(id, &[ShareStatus::Available], ShareStatus::Reverting, now).await? {
        return Err(Error::conflict(format!(
            "Share {id} is in '{}' state, but it must be in 'available' state to be reverted to a snapshot.",
            share.status
        )));
    }
    let from = &[ShareSnapshotStatus::Available];
    if !tx.share_snapshot_status(snapshot_id, from, ShareSnapshotStatus::Restoring, now).await? {
        return Err(Error::conflict(format!("Snapshot {snapshot_id} must be in 'available' state to be restored.")));
    }
    tx.enqueue(&app.jobs, super::job(app, ctx, &share, "share.revert", json!({ "snapshot_id": snapshot_id }))).await?;
    event_now(&mut tx, "share.revert.start", id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// Whether this share can ever be reverted to this snapshot.
fn check_able(share: &ShareRow, snapshot: &ShareSnapshotRow) -> Result<()> {
    if !share.revert_to_snapshot_support {
        return Err(Error::invalid(format!(
            "Share {} may not be reverted to snapshots, because it does not have that capability.",
            share.id
        )));
    }
    if snapshot.share_id != share.id {
        return Err(Error::invalid(format!("Snapshot {} is not associated with share {}.", snapshot.id, share.id)));
    }
    Ok(())
}

/// Whether it can be now.
fn decide(share: &ShareRow, latest: Option<&ShareSnapshotRow>, asked: &ShareSnapshotRow) -> Result<()> {
    check_not_busy(share, Error::conflict)?;
    if share.resize_to.is_some() {
        return Err(Error::conflict(format!("Share {} is being resized: revert it when that has ended.", share.id)));
    }
    if latest.is_none_or(|l| l.id != asked.id) {
        return Err(Error::conflict(format!("Snapshot {} is not the latest one of share {}.", asked.id, share.id)));
    }
    if asked.size_gib != share.size_gib {
        return Err(Error::conflict(format!(
            "Share {} has {} GiB and its snapshot {} has {}: give the share that size first.",
            share.id, share.size_gib, asked.id, asked.size_gib
        )));
    }
    if share.access_rules_status != RulesStatus::Active.as_str() {
        return Err(Error::conflict(format!(
            "The access rules of share {} are not active: it is reverted when they have been applied.",
            share.id
        )));
    }
    Ok(())
}
