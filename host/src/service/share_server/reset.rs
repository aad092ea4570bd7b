//! `reset_status` and `reset_task_state`: an operator says what a share server is, unless a job that is under way
//! decides it.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_server::{ServerStatus, joined},
    error::{Error, Result},
    service::{decided, network_refusal as refusal},
};

/// # Errors
/// 400 for a word that is no status and while a job of [`decided::SHARE_SERVER`] is under way, 403, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let server = super::load_for(app, ctx, id, "share_server:reset_status").await?;
    let status = ServerStatus::parse(word)
        .ok_or_else(|| Error::invalid(format!("Invalid status {word:.64?}. Valid statuses: {}.", joined(ServerStatus::ALL))))?;
    let mut tx = app.store.begin().await?;
    // the network first, as everybody who changes servers does
    tx.share_network_kept(&server.row.share_network_id).await?;
    let Some(now) = tx.share_server_locked(id).await? else { return Err(refusal::server_not_found(id)) };
    let refuse = |job: &str| Error::invalid(decided::says("Share server", id, &now.status, job));
    decided::check(&mut tx, id, decided::SHARE_SERVER, refuse).await?;
    tracing::warn!(share_server_id = id, was = now.status, %status, "an operator gives a share server another status");
    tx.share_server_status(id, ServerStatus::ALL, status, clock::now()).await?;
    Ok(tx.commit().await?)
}

/// Servers have no tasks while they cannot be migrated: only none can be said, as `openstack share server set` does with every
/// change it makes.
///
/// # Errors
/// 400 for any task, 403, 404.
pub async fn task_state(app: &App, ctx: &RequestContext, id: &str, state: Option<&str>) -> Result<()> {
    super::load_for(app, ctx, id, "share_server:share_server_reset_task_state").await?;
    state.map_or(Ok(()), |state| {
        Err(Error::invalid(format!("Invalid state {state:.64?}. Share servers are not migrated here: they have no task.")))
    })
}
