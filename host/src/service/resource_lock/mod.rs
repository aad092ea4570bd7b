//! Locks on shares and access rules: whoever places one keeps everybody, administrators too, from deleting the resource, or
//! from seeing whom a rule lets in.

pub mod create;
pub mod delete;
pub mod list;
pub mod show;
pub mod update;

use uuid::Uuid;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::resource_lock::{LockContext, Locked, LockedAction},
    error::{Error, Result},
    policy::Target,
    store::{Tx, sql::resource_locks::LockRow},
};

/// What policy is asked about a lock.
fn target(lock: &LockRow) -> Target<'_> {
    Target { project_id: &lock.project_id, user_id: &lock.user_id, ..Target::default() }
}

/// The lock, if the caller may know of it.
async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<LockRow> {
    match app.store.resource_lock(id).await? {
        Some(lock) if app.policy.allows(ctx, "resource_lock:get", &target(&lock)) => Ok(lock),
        _ => Err(not_found(id)),
    }
}

/// As what the caller places locks.
fn context_of(ctx: &RequestContext) -> LockContext {
    if ctx.has_role("service") {
        LockContext::Service
    } else if ctx.is_admin() {
        LockContext::Admin
    } else {
        LockContext::User
    }
}

/// Refuses a lock that somebody else, or somebody who ranks above the caller, placed.
///
/// # Errors
/// 403.
pub fn check_handle(app: &App, ctx: &RequestContext, lock: &LockRow, action: &str) -> Result<()> {
    app.policy.check(ctx, action, &target(lock))?;
    let placed = LockContext::parse(&lock.lock_context).unwrap_or(LockContext::Service);
    if context_of(ctx) < placed {
        return Err(Error::forbidden(format!("Resource lock {} cannot be changed by the caller: it was placed as {placed}.", lock.id)));
    }
    Ok(())
}

/// A lock by the caller, not placed yet.
pub fn new(ctx: &RequestContext, on: Locked, resource_id: &str, action: LockedAction, reason: Option<String>) -> LockRow {
    LockRow {
        id: Uuid::new_v4().to_string(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
        lock_context: context_of(ctx).as_str().to_owned(),
        resource_type: on.as_str().to_owned(),
        resource_id: resource_id.to_owned(),
        resource_action: action.as_str().to_owned(),
        lock_reason: reason,
        created_at: clock::now(),
        updated_at: None,
    }
}

/// Refuses a share that is locked against its deletion, which the caller holds.
///
/// # Errors
/// 403.
pub async fn check_share_deletes(tx: &mut Tx, share_id: &str) -> Result<()> {
    let locks = tx.locks_on(share_id, LockedAction::Delete).await?;
    if locks.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = locks.iter().take(8).map(|l| l.id.as_str()).collect();
    Err(Error::forbidden(format!("Invalid share: Resource lock/s [{}] prevents delete action.", ids.join(", "))))
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("Resource lock {id:.64} could not be found."))
}
