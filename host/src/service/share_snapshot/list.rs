//! `GET /snapshots` and `/snapshots/detail`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{page::Page, share_refusal as refusal},
    store::{
        bind::Value,
        sql::share_snapshot_list::{ShareSnapshot, ShareSnapshotFilter, ShareSnapshotQuery, ShareSnapshotSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListShareSnapshots {
    pub page: Page,
    pub filters: Vec<ShareSnapshotFilter>,
    /// Of every project, for whoever may.
    pub all_tenants: bool,
    pub with_count: bool,
}

/// A page, and how many there are in all if that was asked.
#[derive(Debug)]
pub struct Listed {
    pub snapshots: Vec<ShareSnapshot>,
    pub count: Option<i64>,
}

/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListShareSnapshots) -> Result<Listed> {
    app.policy.check(ctx, "share_snapshot:get_all_snapshots", &Target::own(ctx))?;
    let mut filters = ask.filters;
    if !(ask.all_tenants && app.policy.allows(ctx, "share_snapshot:list_all_projects", &Target::own(ctx))) {
        filters.push(ShareSnapshotFilter::Project(ctx.project_id().to_owned()));
    }
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let count = if ask.with_count { Some(app.store.share_snapshot_total(&filters).await?) } else { None };
    let query = ShareSnapshotQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    let snapshots = if query.limit == 0 { Vec::new() } else { app.store.share_snapshots(&query).await? };
    Ok(Listed { snapshots, count })
}

/// Where a page begins.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = app.store.share_snapshot(marker).await?;
    let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
    page.after::<ShareSnapshotSort>(app, ctx, "share_snapshot", marker, row).await?.ok_or_else(|| refusal::snapshot_not_found(marker))
}
