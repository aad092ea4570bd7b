//! `POST /share-networks/{id}/subnets`. Where no server is in that zone the subnet is a row and no more; servers that are there
//! have to be given it ([`in_use`](super::in_use)).

use std::sync::Arc;

use super::{OfNetwork, SubnetValues, in_use};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{network_refusal as refusal, share_metadata::check_writable, share_network},
    store::{
        Tx,
        sql::{
            metadata::MetadataOf,
            share_network_subnets::{Subnet, SubnetRow},
            share_networks::ShareNetworkRow,
            share_servers::ShareServerRow,
        },
    },
};

/// From here on a zone may have several subnets.
pub const SEVERAL_SINCE: u16 = 70;

/// Subnets of one network: each of its shares is exported on all of its zone's, and whoever reads it reads them all.
const MOST_SUBNETS: i64 = 64;

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateSubnet {
    pub values: SubnetValues,
    /// None: a default subnet.
    pub availability_zone: Option<String>,
    pub metadata: Vec<(String, String)>,
}

/// What is in the zone of a subnet that is asked for.
#[derive(Debug, Default)]
pub struct Zone {
    pub subnets: Vec<SubnetRow>,
    /// The servers on them, but for those that could not be built: all subnets of a zone have the same.
    pub servers: Vec<ShareServerRow>,
}

/// # Errors
/// 400 for an unknown zone or while the network is being worked on, 403, 404, 409 for a second subnet of a zone before 2.70, 413 beyond
/// [`MOST_SUBNETS`]; and
/// as [`in_use::add`] where servers are.
pub async fn create(app: &Arc<App>, ctx: &RequestContext, network_id: &str, ask: CreateSubnet) -> Result<OfNetwork> {
    // validate and authorise
    share_network::load_row_for(app, ctx, network_id, "share_network_subnet:create").await?;
    check_writable(app, ctx, "share:update_admin_only_metadata", ask.metadata.iter().map(|(k, _)| k.as_str()))?;
    share_network::check_zone(app, ask.availability_zone.as_deref()).await?;
    // decide
    let mut tx = app.store.begin().await?;
    // held from here on: no other subnet and no server comes into the zone
    let Some(network) = tx.share_network_locked(network_id).await? else { return Err(refusal::network_not_found(network_id)) };
    let zone = zone(&mut tx, network_id, ask.availability_zone.as_deref()).await?;
    if tx.subnet_count(network_id).await? >= MOST_SUBNETS {
        return Err(Error::over_limit("", format!("One more subnet would exceed the {MOST_SUBNETS} that a share network may have.")));
    }
    if !zone.subnets.is_empty() && ctx.microversion < SEVERAL_SINCE {
        return Err(Error::conflict(format!(
            "Another share network subnet was found in the specified availability zone. Only one share network subnet is allowed per \
             availability zone for share network {network_id}."
        )));
    }
    let subnet = ask.values.row(network_id, ask.availability_zone);
    if !zone.servers.is_empty() {
        // drivers are asked, which must not happen in a transaction
        tx.rollback().await?;
        return in_use::add(app, ctx, network, subnet, ask.metadata).await;
    }
    share_network::check_active(&network)?;
    // commit
    insert(tx, network, subnet, &ask.metadata).await
}

/// A subnet that nobody has to be told of.
pub(super) async fn insert(mut tx: Tx, network: ShareNetworkRow, subnet: SubnetRow, metadata: &[(String, String)]) -> Result<OfNetwork> {
    tx.subnet_insert(&subnet).await?;
    tx.metadata_put(MetadataOf::Subnet, &subnet.id, metadata).await?;
    let metadata = tx.metadata(MetadataOf::Subnet, &subnet.id).await?;
    tx.commit().await?;
    Ok(OfNetwork { network, subnet: Subnet { row: subnet, metadata } })
}

/// What is in a zone of the network, which the caller holds.
pub(super) async fn zone(tx: &mut Tx, network_id: &str, name: Option<&str>) -> Result<Zone> {
    let mut subnets = tx.subnets(network_id).await?;
    subnets.retain(|s| s.availability_zone.as_deref() == name);
    let servers = tx.built_servers_on(network_id, subnets.iter().map(|s| s.id.as_str())).await?;
    Ok(Zone { subnets, servers })
}
