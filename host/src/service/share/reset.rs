//! `reset_status` and `reset_task_state`: an operator says what a share is, unless a job that is under way decides it.

use super::{check_not_in_bin, destroy::event_now};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share::{MAY_BE_TOLD, ShareStatus, TASK_STATES, joined},
    error::{Error, Result},
    service::{decided, share_refusal as refusal},
};

/// # Errors
/// 400 for another word than those of [`MAY_BE_TOLD`] and as [`write`], 403 also for a share in the recycle bin, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let share = super::load_row_for(app, ctx, id, "share:reset_status").await?;
    let status = allowed(word)?;
    check_not_in_bin(&share, "reset the status of")?;
    write(app, ctx, id, status).await
}

/// The status of this word, if an operator may say it.
///
/// # Errors
/// 400.
pub fn allowed(word: &str) -> Result<ShareStatus> {
    ShareStatus::parse(word)
        .filter(|s| MAY_BE_TOLD.contains(s))
        .ok_or_else(|| Error::invalid(format!("Invalid status {word:.64?}. Valid statuses: {}.", joined(MAY_BE_TOLD))))
}

/// Of share and instance together.
///
/// # Errors
/// 400 while a job of [`decided::SHARE`] is under way, or its server moves; 404.
pub(in crate::service) async fn write(app: &App, ctx: &RequestContext, id: &str, status: ShareStatus) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    let refuse = |job: &str| refusal::invalid_share(decided::says("Share", id, &share.status, job));
    decided::check(&mut tx, id, decided::SHARE, refuse).await?;
    decided::check_stays(&mut tx, share.share_server_id.as_deref(), refuse).await?;
    tracing::warn!(share_id = id, was = share.status, status = %status, "an operator gives a share another status");
    tx.share_tell(id, status, clock::now()).await?;
    event_now(&mut tx, "share.reset_status", id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// None is none.
///
/// `openstack share set` says none with every change it makes, whoever makes it: where there is none, whoever may change the
/// share may say so.
///
/// # Errors
/// 400 for an unknown state, 403 also for a share in the recycle bin, 404.
pub async fn task_state(app: &App, ctx: &RequestContext, id: &str, state: Option<&str>) -> Result<()> {
    if state.is_none() && says_what_is(app, ctx, id).await? {
        return Ok(());
    }
    let share = super::load_row_for(app, ctx, id, "share:reset_task_state").await?;
    if let Some(state) = state.filter(|s| !TASK_STATES.contains(s)) {
        return Err(Error::invalid(format!("Invalid state {state:.64?}. Valid states: {}.", TASK_STATES.join(", "))));
    }
    check_not_in_bin(&share, "reset the task state of")?;
    let mut tx = app.store.begin().await?;
    if !tx.share_task_state(id, state, clock::now()).await? {
        return Err(refusal::share_not_found(id));
    }
    Ok(tx.commit().await?)
}

/// Whether the share has no task, is not in the recycle bin, and is the caller's to change.
async fn says_what_is(app: &App, ctx: &RequestContext, id: &str) -> Result<bool> {
    let idle =
        app.store.share(id).await?.filter(|share| share.task_state.is_none() && check_not_in_bin(share, "reset the task state of").is_ok());
    Ok(idle.is_some_and(|share| app.policy.check(ctx, "share:update", &super::target(&share)).is_ok()))
}
