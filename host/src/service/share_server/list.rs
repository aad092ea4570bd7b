//! `GET /share-servers`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{network_refusal as refusal, page::Page},
    store::sql::share_servers::{ServerFilter, ServerQuery, ServerSort, ShareServer},
};

/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, page: Page, filters: Vec<ServerFilter>) -> Result<Vec<ShareServer>> {
    app.policy.check(ctx, "share_server:index", &Target::own(ctx))?;
    let after = match page.marker.as_deref() {
        None => None,
        Some(marker) => {
            let found = app.store.share_server(marker).await?;
            let row = found.as_ref().map(|s| (s.row.project_id.as_str(), &s.row));
            let values = page.after::<ServerSort>(app, ctx, "share_server", marker, row).await?;
            Some(values.ok_or_else(|| refusal::server_not_found(marker))?)
        }
    };
    if page.limit == 0 {
        return Ok(Vec::new());
    }
    let query = ServerQuery { filters, order: page.order, after, limit: page.limit, offset: page.offset };
    Ok(app.store.share_servers(&query).await?)
}
