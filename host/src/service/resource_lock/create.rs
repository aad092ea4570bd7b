//! `POST /resource-locks`.

use super::new;
use crate::{
    app::App,
    context::RequestContext,
    domain::{
        resource_lock::{Locked, LockedAction},
        share::ShareStatus,
        share_access::AccessState,
    },
    error::{Error, Kind, Result},
    policy::Target,
    service::{share, share_access},
    store::sql::resource_locks::LockRow,
};

/// What was asked for, checked as far as words go.
#[derive(Debug, Clone)]
pub struct CreateLock {
    pub on: Locked,
    pub resource_id: String,
    pub action: LockedAction,
    pub reason: Option<String>,
}

/// # Errors
/// 400 for a resource that is not there or cannot be locked so, 403, 409 for one that is going and for a rule that is hidden
/// already.
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateLock) -> Result<LockRow> {
    app.policy.check(ctx, "resource_lock:create", &Target::own(ctx))?;
    if !ask.on.takes(ask.action) {
        return Err(Error::invalid(format!("A resource of the type '{}' cannot be locked against '{}'.", ask.on, ask.action)));
    }
    let lock = new(ctx, ask.on, &ask.resource_id, ask.action, ask.reason);
    check_known(app, ctx, &ask.on, &ask.resource_id).await.map_err(|e| match e.kind {
        Kind::NotFound => Error::invalid(e.message),
        _ => e,
    })?;
    let mut tx = app.store.begin().await?;
    // held from here on: it does not begin to go
    match ask.on {
        Locked::Share => {
            let share = tx.share_locked(&ask.resource_id).await?;
            if share.is_none_or(|s| s.is_soft_deleted || s.status == ShareStatus::Deleting.as_str()) {
                return Err(going(&ask.resource_id));
            }
        }
        Locked::AccessRule => {
            let rule = tx.share_rule(&ask.resource_id).await?;
            let Some(rule) = rule else { return Err(going(&ask.resource_id)) };
            tx.share_locked(&rule.share_id).await?;
            let now = tx.share_rule(&ask.resource_id).await?;
            if now.is_none_or(|r| r.withdrawn || matches!(r.state(), Some(AccessState::QueuedToDeny | AccessState::Denying))) {
                return Err(going(&ask.resource_id));
            }
            if ask.action == LockedAction::Show && !tx.locks_on(&ask.resource_id, LockedAction::Show).await?.is_empty() {
                return Err(Error::conflict(format!("Access rule {} is locked against 'show' already.", ask.resource_id)));
            }
        }
    }
    tx.resource_lock_insert(&lock).await?;
    tx.commit().await?;
    Ok(lock)
}

async fn check_known(app: &App, ctx: &RequestContext, on: &Locked, id: &str) -> Result<()> {
    match on {
        Locked::Share => {
            // a public share is known to everybody, and locked by its own project alone
            let row = share::load_row(app, ctx, id).await?;
            app.policy.check(ctx, "resource_lock:create", &share::target(&row))
        }
        Locked::AccessRule => share_access::show::known(app, ctx, id).await,
    }
}

fn going(id: &str) -> Error {
    Error::conflict(format!("Resource {id:.64} is being removed and cannot be locked."))
}
