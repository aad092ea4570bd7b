//! `GET /snapshots` and `/snapshots/detail`: keyset pages, and a marker that may be deleted.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{
        page::{self, Page},
        refusal,
    },
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

/// Where a page begins: the marker's values, from its row or from its tombstone.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let visible = |project: &str| ctx.is_admin() || project == ctx.project_id();
    let keys = || page.order.iter().filter_map(|o| SnapshotSort::of_column(o.column));
    if let Some(row) = app.store.snapshot(marker).await? {
        if visible(&row.project_id) {
            return Ok(keys().map(|key| key.value(&row)).collect());
        }
    } else if let Some(gone) = app.store.tombstone("snapshot", marker).await?
        && visible(&gone.project_id)
        && let Some(values) = page::from_tombstone(&gone.sort_keys, keys().map(SnapshotSort::as_str))
    {
        return Ok(values);
    }
    Err(refusal::snapshot_not_found(marker))
}
