//! What must be so before a share server moves: when its migration is checked, and again when it begins.

use super::{MigrateServer, ask::Asked};
use crate::{
    domain::{
        share::{RulesStatus, ShareStatus, is_busy},
        share_server::ServerStatus,
    },
    error::{Error, Result},
    service::{network_refusal, share::network::in_zone, share_network::check_active},
    store::{
        Tx,
        sql::{share_network_subnets::SubnetRow, share_servers::ShareServerRow, shares::ShareRow},
    },
};

/// What the caller holds: nothing works on it, and nothing comes to it until the transaction ends.
pub struct AtRest {
    pub source: ShareServerRow,
    /// Of the destination's network, those that serve its zone, by id.
    pub subnets: Vec<SubnetRow>,
    pub shares: Vec<ShareRow>,
    /// By share, what its snapshots were in GiB.
    pub snapshots: Vec<(String, i64)>,
}

/// # Errors
/// 400 when a network is being worked on, 404, 409 naming what is not as it must be.
pub async fn hold(tx: &mut Tx, asked: &Asked, ask: &MigrateServer) -> Result<AtRest> {
    let id = asked.source.id.as_str();
    // the networks first, as everybody who changes servers does, in one order
    let mut networks = [asked.source.share_network_id.as_str(), asked.network.id.as_str()];
    networks.sort_unstable();
    for (n, network_id) in networks.into_iter().enumerate() {
        if n == 1 && networks[0] == networks[1] {
            break;
        }
        let network = tx.share_network_locked(network_id).await?.ok_or_else(|| network_refusal::network_not_found(network_id))?;
        check_active(&network)?;
    }
    let Some(source) = tx.share_server_locked(id).await? else { return Err(network_refusal::server_not_found(id)) };
    check_server(tx, &source, asked, ask).await?;
    let subnets = in_zone(tx.subnets(&asked.network.id).await?, Some(&asked.backend.availability_zone));
    if subnets.is_empty() {
        return Err(Error::conflict(format!(
            "The share network {} does not have a subnet that spans the destination host's availability zone, {}.",
            asked.network.id, asked.backend.availability_zone
        )));
    }
    let shares = tx.shares_on_server(id).await?;
    if shares.is_empty() {
        return Err(Error::conflict(format!("Share server {id} does not have shares.")));
    }
    for share in &shares {
        check_share(share)?;
    }
    if let Some((snapshot, status)) = tx.server_snapshot_not_available(id).await? {
        return Err(Error::conflict(format!("Snapshot {snapshot} has the status {status}; all snapshots must be available.")));
    }
    if let Some(share) = tx.server_share_in_work(id).await? {
        return Err(Error::conflict(format!("Something works on share {share}; try again when that has ended.")));
    }
    if let Some(share) = tx.share_being_made_on(id).await? {
        return Err(Error::conflict(format!(
            "Share {share} is being made of a snapshot on share server {id}; try again when that has ended."
        )));
    }
    // shares keep their ids: what removes the old ones would remove the new
    if let Some(left) = tx.left_on_backend(&asked.backend.host).await? {
        return Err(Error::conflict(format!(
            "What share server {left} left on {} when it moved away is still being removed; try again when that has ended.",
            asked.backend.host
        )));
    }
    if let Some(share) = tx.server_share_cleaned_up(id, &asked.backend.host).await? {
        return Err(Error::conflict(format!(
            "What an earlier attempt may have left of share {share} on {} is still being removed; try again when that has ended.",
            asked.backend.host
        )));
    }
    let snapshots = tx.server_snapshot_sizes(id).await?;
    Ok(AtRest { source, subnets, shares, snapshots })
}

async fn check_server(tx: &mut Tx, source: &ShareServerRow, asked: &Asked, ask: &MigrateServer) -> Result<()> {
    let id = source.id.as_str();
    if source.status != ServerStatus::Active.as_str() {
        return Err(Error::conflict(format!("Share server {id} status must be active, but current status is: {}.", source.status)));
    }
    if source.share_network_id != asked.source.share_network_id {
        return Err(Error::conflict(format!("Share server {id} is being changed; try again when that has ended.")));
    }
    if source.backend == ask.host && source.share_network_id == asked.network.id {
        return Err(Error::conflict(
            "There is no difference between source and destination backends and between source and destination share networks. Share server \
             migration will not proceed.",
        ));
    }
    // its users would not see the network that their shares are on
    if source.project_id != asked.network.project_id {
        return Err(Error::conflict(format!("The share network {} is of another project than share server {id}.", asked.network.id)));
    }
    if !tx.promised_subnets(id).await?.is_empty() {
        return Err(Error::conflict(format!(
            "Share server {id} waits for a subnet that it could not be given: that has to be healed first."
        )));
    }
    if tx.migration_destination(id).await?.is_some() {
        return Err(Error::conflict(format!("There is a destination share server that points to share server {id}: delete it first.")));
    }
    Ok(())
}

fn check_share(share: &ShareRow) -> Result<()> {
    let id = share.id.as_str();
    if share.is_soft_deleted {
        return Err(Error::conflict(format!("Share {id} has been soft deleted: restore it, or delete it, first.")));
    }
    if share.status != ShareStatus::Available.as_str() {
        return Err(Error::conflict(format!("Share {id} is not available, but {}.", share.status)));
    }
    if is_busy(share.task_state.as_deref()) {
        return Err(Error::conflict(crate::service::share_refusal::busy(id, share.task_state.as_deref())));
    }
    if share.access_rules_status != RulesStatus::Active.as_str() {
        return Err(Error::conflict(format!(
            "The access rules of share {id} have the status {}; they must be active: try again when they are.",
            share.access_rules_status
        )));
    }
    Ok(())
}
