//! The transfers of a project, or of all for an admin.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::page::Page,
    store::{
        bind::Value,
        sql::transfers::{TransferQuery, TransferRow, TransferSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListTransfers {
    pub page: Page,
    pub id: Option<String>,
    pub volume_id: Option<String>,
    pub name: Option<String>,
    /// Of every project, for an admin.
    pub all_tenants: bool,
}

/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListTransfers) -> Result<Vec<TransferRow>> {
    app.policy.check(ctx, "volume:get_all_transfers", &Target::own(ctx))?;
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let query = TransferQuery {
        project_id: if ctx.is_admin() && ask.all_tenants { None } else { Some(ctx.project_id().to_owned()) },
        id: ask.id,
        volume_id: ask.volume_id,
        name: ask.name,
        order: ask.page.order,
        after,
        limit: ask.page.limit,
        offset: ask.page.offset,
    };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.transfers(&query).await?) }
}

async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = app.store.transfer(marker).await?;
    let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
    page.after::<TransferSort>(app, ctx, "transfer", marker, row).await?.ok_or_else(|| super::not_found(marker))
}
