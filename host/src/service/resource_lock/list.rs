//! `GET /resource-locks`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::page::Page,
    store::{
        bind::Value,
        keyset::ListQuery,
        sql::resource_locks::{LockFilter, LockRow, LockSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListLocks {
    pub page: Page,
    pub filters: Vec<LockFilter>,
    /// Of every project, for whoever may.
    pub all_projects: bool,
    pub with_count: bool,
}

/// The locks, and how many there are in all where that was asked for.
///
/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListLocks) -> Result<(Vec<LockRow>, Option<i64>)> {
    app.policy.check(ctx, "resource_lock:get_all", &Target::own(ctx))?;
    let mut filters = ask.filters;
    if !(ask.all_projects && app.policy.allows(ctx, "resource_lock:get_all_projects", &Target::own(ctx))) {
        filters.push(LockFilter::Equals("project_id", Value::from(ctx.project_id())));
    }
    let count = if ask.with_count { Some(app.store.resource_lock_count(&filters).await?) } else { None };
    if ask.page.limit == 0 {
        return Ok((Vec::new(), count));
    }
    let after = match ask.page.marker.as_deref() {
        None => None,
        Some(marker) => {
            let row = app.store.resource_lock(marker).await?;
            let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
            let values = ask.page.after::<LockSort>(app, ctx, "resource_lock", marker, row).await?;
            Some(values.ok_or_else(|| super::not_found(marker))?)
        }
    };
    let query = ListQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    Ok((app.store.resource_locks(&query).await?, count))
}
