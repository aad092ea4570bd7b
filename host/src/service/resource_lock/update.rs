//! `PUT /resource-locks/{id}`.

use super::{check_handle, load, not_found};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::resource_lock::{Locked, LockedAction},
    error::{Error, Result},
    store::sql::resource_locks::LockRow,
};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateLock {
    pub action: Option<LockedAction>,
    pub reason: Option<Option<String>>,
}

/// # Errors
/// 400 for an action that the resource cannot be locked against, 403, 404, 409 for a rule that is hidden already.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateLock) -> Result<LockRow> {
    let lock = load(app, ctx, id).await?;
    check_handle(app, ctx, &lock, "resource_lock:update")?;
    let on = Locked::parse(&lock.resource_type);
    if let Some(action) = ask.action.filter(|a| on.is_none_or(|on| !on.takes(*a))) {
        return Err(Error::invalid(format!("A resource of the type '{}' cannot be locked against '{action}'.", lock.resource_type)));
    }
    let mut tx = app.store.begin().await?;
    if ask.action == Some(LockedAction::Show) && lock.resource_action != LockedAction::Show.as_str() {
        if let Some(rule) = tx.share_rule(&lock.resource_id).await? {
            tx.share_locked(&rule.share_id).await?;
        }
        if !tx.locks_on(&lock.resource_id, LockedAction::Show).await?.is_empty() {
            return Err(Error::conflict(format!("Access rule {} is locked against 'show' already.", lock.resource_id)));
        }
    }
    if !tx.resource_lock_update(id, ask.action, ask.reason.as_ref().map(Option::as_deref), clock::now()).await? {
        return Err(not_found(id));
    }
    tx.commit().await?;
    load(app, ctx, id).await
}
