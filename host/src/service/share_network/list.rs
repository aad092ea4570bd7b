//! `GET /share-networks` and `/share-networks/detail`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{network_refusal as refusal, page::Page},
    store::sql::share_network_list::{NetworkFilter, NetworkQuery, NetworkSort, ShareNetwork},
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListNetworks {
    pub page: Page,
    pub filters: Vec<NetworkFilter>,
    /// Of every project, for whoever may.
    pub all_tenants: bool,
    /// Of this project, for whoever may list all.
    pub project_id: Option<String>,
    /// With all that the detailed view shows.
    pub detail: bool,
}

/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListNetworks) -> Result<Vec<ShareNetwork>> {
    app.policy.check(ctx, if ask.detail { "share_network:detail" } else { "share_network:index" }, &Target::own(ctx))?;
    let everywhere = app.policy.allows(ctx, "share_network:get_all_share_networks", &Target::own(ctx));
    let mut filters = ask.filters;
    match ask.project_id {
        Some(project) if everywhere => filters.push(NetworkFilter::Project(project)),
        _ if everywhere && ask.all_tenants => {}
        _ => filters.push(NetworkFilter::Project(ctx.project_id().to_owned())),
    }
    let after = match ask.page.marker.as_deref() {
        None => None,
        Some(marker) => {
            let row = app.store.share_network(marker).await?;
            let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
            let values = ask.page.after::<NetworkSort>(app, ctx, "share_network", marker, row).await?;
            Some(values.ok_or_else(|| refusal::network_not_found(marker))?)
        }
    };
    if ask.page.limit == 0 {
        return Ok(Vec::new());
    }
    let query = NetworkQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    Ok(app.store.share_networks(&query, ask.detail).await?)
}
