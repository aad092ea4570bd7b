//! `GET /share-networks/{id}/subnets`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::share_network,
    store::sql::{share_network_subnets::Subnet, share_networks::ShareNetworkRow},
};

/// The network and its subnets, the oldest first.
///
/// # Errors
/// 403, 404.
pub async fn list(app: &App, ctx: &RequestContext, network_id: &str) -> Result<(ShareNetworkRow, Vec<Subnet>)> {
    let network = share_network::load_row_for(app, ctx, network_id, "share_network_subnet:index").await?;
    let subnets = app.store.subnets_of_all([network_id], true).await?.remove(network_id).unwrap_or_default();
    Ok((network, subnets))
}
