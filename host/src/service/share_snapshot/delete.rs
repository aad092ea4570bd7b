//! `DELETE /snapshots/{id}` and `force_delete`. A snapshot of which the back end certainly holds nothing is gone when the call
//! returns.

use std::sync::Arc;

use serde_json::json;

use super::destroy;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_snapshot::{DELETE_FROM, joined},
    error::{Error, Result},
    jobs::NewJob,
    service::{decided, share::network, share_refusal as refusal},
    store::sql::share_snapshots::ShareSnapshotRow,
};

/// # Errors
/// 400 while its share's network is being changed, 403 also when its state does not allow it, 404, 409 while a share is made of it.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share:delete_snapshot").await?;
    begin(app, ctx, &found, false).await
}

/// Whatever its status.
///
/// # Errors
/// 400 while its share's network is being changed, 403 also while its share's server moves, 404, 409 while a share is made of it.
pub async fn force_delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share_snapshot:force_delete").await?;
    begin(app, ctx, &found, true).await
}

async fn begin(app: &Arc<App>, ctx: &RequestContext, found: &ShareSnapshotRow, force: bool) -> Result<()> {
    let id = found.id.as_str();
    let mut tx = app.store.begin().await?;
    // the network first, as everybody does who works on a network
    network::keep_still(&mut tx, found.share_network_id.as_deref()).await?;
    tx.share_locked(&found.share_id).await?;
    let Some(snapshot) = tx.share_snapshot_locked(id).await? else { return Err(refusal::snapshot_not_found(id)) };
    if let Some(share) = tx.share_being_made_of(id).await? {
        return Err(Error::conflict(format!("Share {share} is being made of snapshot {id}: delete it when that has ended.")));
    }
    let moves = |job: &str| refusal::forbidden_snapshot(decided::says("Snapshot", id, &snapshot.status, job));
    decided::check_stays(&mut tx, snapshot.share_server_id.as_deref(), moves).await?;
    if !tx.share_snapshot_begin_delete(id, force, clock::now()).await? {
        return Err(refusal::forbidden_snapshot(format!(
            "Share snapshot status must be one of {}; it is {}.",
            joined(DELETE_FROM),
            snapshot.status
        )));
    }
    destroy::event(&mut tx, "share_snapshot.delete.start", &snapshot, &ctx.request_id).await?;
    match &snapshot.host {
        Some(host) if snapshot.backed => {
            let job = super::job(app, ctx, &snapshot.share_id, host, id, "share_snapshot.delete");
            tx.enqueue(&app.jobs, NewJob { payload: json!({ "was": snapshot.status }), ..job }).await?;
        }
        _ => {
            destroy::remove(&mut tx, id, &ctx.request_id).await.map_err(refusal::given_back)?;
        }
    }
    Ok(tx.commit().await?)
}
