//! Whom a rule lets in may be locked: others see that there is a rule, and no more.

use std::collections::HashSet;

use crate::{app::App, context::RequestContext, domain::resource_lock::LockedAction, error::Result, policy::Target};

/// Those of these rules that the caller may not look into.
pub(super) async fn of(app: &App, ctx: &RequestContext, rules: Vec<&str>) -> Result<HashSet<String>> {
    let locks = app.store.locks_on(&rules, LockedAction::Show).await?;
    Ok(locks
        .into_iter()
        .filter(|lock| {
            let target = Target { project_id: &lock.project_id, user_id: &lock.user_id, ..Target::default() };
            !app.policy.allows(ctx, "resource_lock:bypass_locked_show_action", &target)
        })
        .map(|lock| lock.resource_id)
        .collect())
}
