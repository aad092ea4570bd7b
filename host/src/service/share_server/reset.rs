//! `reset_status` and `reset_task_state`: an operator says what a share server is, unless a job that is under way
//! decides it.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_server::{ServerStatus, TaskState, joined},
    error::{Error, Result},
    service::{decided, network_refusal as refusal},
    store::{Tx, sql::share_servers::ShareServerRow},
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
    check_destination(&mut tx, &now, refuse).await?;
    tracing::warn!(share_server_id = id, was = now.status, %status, "an operator gives a share server another status");
    tx.share_server_status(id, ServerStatus::ALL, status, clock::now()).await?;
    Ok(tx.commit().await?)
}

/// None is none: `openstack share server set` says it with every change that it makes.
///
/// # Errors
/// 400 for another word than those of [`TaskState::MAY_BE_TOLD`] and while a job of [`decided::SHARE_SERVER`] is under way, 403, 404.
pub async fn task_state(app: &App, ctx: &RequestContext, id: &str, state: Option<&str>) -> Result<()> {
    let server = super::load_for(app, ctx, id, "share_server:share_server_reset_task_state").await?;
    let task = state.map(allowed).transpose()?;
    let mut tx = app.store.begin().await?;
    tx.share_network_kept(&server.row.share_network_id).await?;
    let Some(now) = tx.share_server_locked(id).await? else { return Err(refusal::server_not_found(id)) };
    if now.task_state.as_deref() == task.map(TaskState::as_str) {
        return Ok(());
    }
    let refuse = |job: &str| Error::invalid(decided::says("Share server", id, &now.status, job));
    decided::check(&mut tx, id, decided::SHARE_SERVER, refuse).await?;
    check_destination(&mut tx, &now, refuse).await?;
    tracing::warn!(share_server_id = id, was = now.task_state, task = state, "an operator gives a share server another task state");
    tx.share_server_task_told(id, task, clock::now()).await?;
    Ok(tx.commit().await?)
}

fn allowed(word: &str) -> Result<TaskState> {
    let task = TaskState::parse(word).filter(|t| TaskState::MAY_BE_TOLD.contains(t));
    task.ok_or_else(|| Error::invalid(format!("Invalid state {word:.64?}. Valid states: {}.", joined(TaskState::MAY_BE_TOLD))))
}

/// What becomes of a server that another one moves to is said by the job of that one.
async fn check_destination(tx: &mut Tx, server: &ShareServerRow, refuse: impl FnOnce(&str) -> Error) -> Result<()> {
    let source = server.source_share_server_id.as_deref().filter(|_| server.status == ServerStatus::ServerMigratingTo.as_str());
    decided::check_stays(tx, source, refuse).await
}
