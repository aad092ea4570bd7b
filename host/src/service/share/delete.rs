//! `DELETE /shares/{id}`, `force_delete`, and the end of a share whose time in the recycle bin is over. A share that never got
//! a host has nothing behind it and is gone when the call returns.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::{check_not_busy, destroy, network};
use crate::{
    app::App,
    clock,
    context::{Principal, RequestContext},
    domain::share::{DELETE_FROM, ShareStatus, joined},
    error::{Error, Result},
    service::{decided, resource_lock, share_refusal as refusal},
    store::sql::shares::ShareRow,
};

/// # Errors
/// 400 while its network is being changed, 403 also when its state does not allow it, it has snapshots or is locked, 404.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    super::load_row_for(app, ctx, id, "share:delete").await?;
    go(app, ctx, id, Why::Asked).await.map(drop)
}

/// Whatever its status.
///
/// # Errors
/// 400 when it has snapshots or something works on it, on its server or on its network, 403 also when it is locked, 404.
pub async fn force_delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    super::load_row_for(app, ctx, id, "share:force_delete").await?;
    begin_by_force(app, ctx, id).await
}

/// Deletes a share on nobody's behalf, provided its time in the recycle bin is over. False: it is not, for it was restored.
///
/// # Errors
/// As [`delete`].
pub async fn expire(app: &Arc<App>, id: &str) -> Result<bool> {
    let Some(share) = app.store.share(id).await? else { return Ok(false) };
    let ctx = RequestContext {
        request_id: format!("req-{}", Uuid::new_v4()),
        principal: Principal { project_id: share.project_id, user_id: share.user_id, ..Principal::default() },
        ..RequestContext::default()
    };
    go(app, &ctx, id, Why::TimeIsOver).await
}

/// As `force_delete`, for whoever was asked already.
pub(in crate::service) async fn begin_by_force(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    go(app, ctx, id, Why::Forced).await.map(drop)
}

/// Why a share goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Asked,
    Forced,
    /// In the recycle bin.
    TimeIsOver,
}

/// False: its time is not over, and nothing was written.
async fn go(app: &Arc<App>, ctx: &RequestContext, id: &str, why: Why) -> Result<bool> {
    let force = why == Why::Forced;
    let refuse = |why: String| if force { refusal::invalid_share(why) } else { refusal::forbidden_share(why) };
    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    let Some(found) = tx.share(id).await? else { return Err(refusal::share_not_found(id)) };
    network::keep_still(&mut tx, found.share_network_id.as_deref()).await?;
    // held from here on: no snapshot begins, and nobody restores it, between the look at it and the change
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    let over = share.is_soft_deleted && share.scheduled_to_be_deleted_at.is_some_and(|at| at <= clock::now());
    if why == Why::TimeIsOver && !over {
        return Ok(false);
    }
    resource_lock::check_share_deletes(&mut tx, id).await?;
    check_snapshots(&share, tx.share_snapshot_count(id).await?, refuse)?;
    check_not_busy(&share, refuse)?;
    // it is being copied with its server
    let moves = |job: &str| refuse(decided::says("Share", id, &share.status, job));
    decided::check_stays(&mut tx, share.share_server_id.as_deref(), moves).await?;
    let going = ShareRow { status: ShareStatus::Deleting.as_str().to_owned(), ..share.clone() };
    let from = if force { ShareStatus::ALL } else { DELETE_FROM };
    // an error that left nothing behind: no job has it in hand, no back end holds it
    let nowhere = share.host.is_none() && !share.backed && share.status == ShareStatus::Error.as_str();
    if nowhere {
        destroy::event(&mut tx, "share.delete.start", &going, &ctx.request_id).await?;
        destroy::remove(&mut tx, &share, &[ShareStatus::Error], &ctx.request_id).await?;
        tx.commit().await?;
        return Ok(true);
    }
    if !tx.share_begin_delete(id, from, clock::now()).await? {
        return Err(refuse(format!("Share status must be one of {}; it is {}.", joined(DELETE_FROM), share.status)));
    }
    destroy::event(&mut tx, "share.delete.start", &going, &ctx.request_id).await?;
    tx.enqueue(&app.jobs, super::job(app, ctx, &share, "share.delete", json!({ "was": share.status }))).await?;
    tx.commit().await?;
    Ok(true)
}

fn check_snapshots(share: &ShareRow, count: i64, refuse: impl Fn(String) -> Error) -> Result<()> {
    if count > 0 { Err(refuse(refusal::has_snapshots(&share.id, count))) } else { Ok(()) }
}
