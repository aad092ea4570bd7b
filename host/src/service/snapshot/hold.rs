//! Holding a snapshot for a change, as [`volume::hold`](crate::service::volume::hold) holds a volume: a transfer of the volume
//! changes the owner of its snapshots, too.

use super::load_for;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::refusal,
    store::{Tx, sql::snapshots::SnapshotRow},
};

/// A transaction that holds the snapshot and its volume, for whoever may do `action` with the snapshot.
///
/// # Errors
/// 403, 404.
pub async fn hold(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<(Tx, SnapshotRow)> {
    let found = load_for(app, ctx, id, action).await?.row;
    hold_found(app, &found).await
}

/// As [`hold`], of a snapshot for which the caller was authorised.
///
/// # Errors
/// 404 when it is gone or another project's by now.
pub async fn hold_found(app: &App, found: &SnapshotRow) -> Result<(Tx, SnapshotRow)> {
    let mut tx = app.store.begin().await?;
    // the volume first, as everywhere
    tx.volume_locked(&found.volume_id).await?;
    match tx.snapshot_locked(&found.id).await? {
        Some(row) if row.project_id == found.project_id => Ok((tx, row)),
        _ => Err(refusal::snapshot_not_found(&found.id)),
    }
}
