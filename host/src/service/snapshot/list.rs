//! `GET /snapshots` and `/snapshots/detail`: keyset pages, and a marker that may be deleted.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{page::Page, refusal},
    store::{
        bind::Value,
        sql::snapshot_list::{Snapshot, SnapshotFilter, SnapshotQuery, SnapshotSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListSnapshots {
    pub page: Page,
    pub filters: Vec<SnapshotFilter>,
    /// Of every project, for an admin.
    pub all_tenants: bool,
    pub with_count: bool,
}

/// A page, and how many there are in all if that was asked.
#[derive(Debug)]
pub struct Listed {
    pub snapshots: Vec<Snapshot>,
    pub count: Option<i64>,
}

/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListSnapshots) -> Result<Listed> {
    app.policy.check(ctx, "volume:get_all_snapshots", &Target::own(ctx))?;
    let mut filters = ask.filters;
    if !(ctx.is_admin() && ask.all_tenants) {
        filters.push(SnapshotFilter::Project(ctx.project_id().to_owned()));
    }
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let count = if ask.with_count { Some(app.store.snapshot_count(&filters).await?) } else { None };
    let query = SnapshotQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    let snapshots = if query.limit == 0 { Vec::new() } else { app.store.snapshots(&query).await? };
    Ok(Listed { snapshots, count })
}

/// Where a page begins.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = app.store.snapshot(marker).await?;
    let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
    page.after::<SnapshotSort>(app, ctx, "snapshot", marker, row).await?.ok_or_else(|| refusal::snapshot_not_found(marker))
}
