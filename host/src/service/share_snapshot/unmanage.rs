//! `unmanage`: a snapshot is forgotten, and stays on its back end as it is.

use std::sync::Arc;

use super::{destroy, manage::SERVERS_SINCE};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_snapshot::{ShareSnapshotStatus, TRANSITIONAL},
    error::{Error, Result},
    service::{share::network, share_refusal as refusal},
};

/// # Errors
/// 400 while its share's network is being changed, 403 also when something is under way, 404, 409 while a share is made of it.
pub async fn unmanage(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share_snapshot:unmanage_snapshot").await?;
    let mut tx = app.store.begin().await?;
    // the network first, as everybody does who works on a network
    network::keep_still(&mut tx, found.share_network_id.as_deref()).await?;
    tx.share_locked(&found.share_id).await?;
    let Some(snapshot) = tx.share_snapshot_locked(id).await? else { return Err(refusal::snapshot_not_found(id)) };
    if ctx.microversion < SERVERS_SINCE && snapshot.share_server_id.is_some() {
        return Err(refusal::forbidden_snapshot(format!("Snapshot {id} is on a share server and cannot be unmanaged before 2.49.")));
    }
    if let Some(share) = tx.share_being_made_of(id).await? {
        return Err(Error::conflict(format!("Share {share} is being made of snapshot {id}: unmanage it when that has ended.")));
    }
    let from: Vec<ShareSnapshotStatus> = ShareSnapshotStatus::ALL.iter().copied().filter(|s| !TRANSITIONAL.contains(s)).collect();
    if !tx.share_snapshot_status(id, &from, ShareSnapshotStatus::Unmanaging, clock::now()).await? {
        return Err(refusal::forbidden_snapshot(format!(
            "Snapshot {id} has the status {}: unmanage it when that has ended.",
            snapshot.status
        )));
    }
    destroy::event_now(&mut tx, "share_snapshot.unmanage.start", id, &ctx.request_id).await?;
    match snapshot.host.as_deref().filter(|_| snapshot.backed) {
        Some(host) => {
            tx.enqueue(&app.jobs, super::job(app, ctx, &snapshot.share_id, host, id, "share_snapshot.unmanage")).await?;
        }
        // nothing of it is anywhere
        None => {
            destroy::forget(&mut tx, id, "share_snapshot.unmanage.end", &ctx.request_id).await.map_err(refusal::given_back)?;
        }
    }
    Ok(tx.commit().await?)
}
