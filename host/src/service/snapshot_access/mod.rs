//! Who may mount a snapshot of a share, read-only.
//!
//! As for shares, a change is a row that waits and a job, in one transaction; the job takes up everything that waits then.

pub mod allow;
pub mod deny;
pub mod list;

use std::sync::Arc;

use crate::{
    app::App,
    context::RequestContext,
    domain::share_snapshot::ShareSnapshotStatus,
    error::{Error, Result},
    service::{share, share_refusal as refusal, share_snapshot},
    store::{Tx, sql::share_snapshots::ShareSnapshotRow},
};

/// Refuses a snapshot that nobody mounts.
fn check_mountable(snapshot: &ShareSnapshotRow) -> Result<()> {
    if snapshot.mount_snapshot_support {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "Cannot control access to the snapshot {} since the parent share {} does not support mounting its snapshots.",
        snapshot.id, snapshot.share_id
    )))
}

/// The snapshot, held until the transaction ends, if its rules may change now; and where it is.
async fn held(tx: &mut Tx, id: &str) -> Result<(ShareSnapshotRow, String)> {
    // its network first, as everybody does who works on a network: while that is being changed, so are the locations
    let Some(found) = tx.share_snapshot(id).await? else { return Err(refusal::snapshot_not_found(id)) };
    share::network::keep(tx, found.share_network_id.as_deref()).await?;
    let Some(snapshot) = tx.share_snapshot_locked(id).await? else { return Err(refusal::snapshot_not_found(id)) };
    let host = snapshot.host.clone().filter(|_| snapshot.status == ShareSnapshotStatus::Available.as_str());
    let Some(host) = host else {
        return Err(refusal::invalid_snapshot(format!(
            "The access rules of snapshot {id} cannot be changed now: its status must be available, it is {}.",
            snapshot.status
        )));
    };
    // after the snapshot's own state, which says more
    share::network::check_server(tx, &found.share_id).await?;
    Ok((snapshot, host))
}

/// A rule of the snapshot waits; its job comes.
async fn apply(app: &Arc<App>, ctx: &RequestContext, tx: &mut Tx, of: &ShareSnapshotRow, host: &str) -> Result<()> {
    share_snapshot::destroy::event(tx, "share_snapshot.access.start", of, &ctx.request_id).await?;
    tx.enqueue(&app.jobs, share_snapshot::job(app, ctx, &of.share_id, host, &of.id, "share_snapshot.access")).await?;
    Ok(())
}
