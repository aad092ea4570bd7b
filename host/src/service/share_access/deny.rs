//! `deny_access`. A rule that failed is denied like any other.

use std::sync::Arc;

use super::{apply, held};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{resource_lock::LockedAction, share_access::AccessState},
    error::{Error, Result},
    service::{resource_lock, share, share_refusal as refusal},
};

/// From these a rule goes: all but those it goes from already.
const FROM: &[AccessState] = &[
    AccessState::QueuedToApply,
    AccessState::Applying,
    AccessState::Active,
    AccessState::QueuedToUpdate,
    AccessState::Updating,
    AccessState::Error,
];

/// # Errors
/// 400 when the share's state does not allow it, 403 also when the rule is locked and not to be unlocked, 404 also when it is
/// another share's.
pub async fn deny(app: &Arc<App>, ctx: &RequestContext, share_id: &str, rule_id: &str, unlock: bool) -> Result<()> {
    share::load_row_for(app, ctx, share_id, "share:deny_access").await?;
    let mut tx = app.store.begin().await?;
    let share = held(&mut tx, ctx, share_id).await?;
    if tx.share_rule(rule_id).await?.is_none_or(|r| r.share_id != share_id) {
        return Err(refusal::rule_not_found(rule_id));
    }
    for lock in tx.locks_on(rule_id, LockedAction::Delete).await? {
        if !unlock {
            return Err(Error::forbidden(format!(
                "Cannot deny access for access '{rule_id}' since it has been locked. Please remove the locks and retry the operation."
            )));
        }
        resource_lock::check_handle(app, ctx, &lock, "resource_lock:delete")?;
        tx.resource_lock_remove(&lock.id).await?;
    }
    // false: it is going already
    if tx.share_rule_withdraw(rule_id, FROM, clock::now()).await? {
        apply(app, ctx, &mut tx, &share).await?;
    }
    Ok(tx.commit().await?)
}
