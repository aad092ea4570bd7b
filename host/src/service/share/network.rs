//! The share network a share is asked for on.

use crate::{
    app::App,
    context::RequestContext,
    domain::{share_network::NetworkStatus, share_server::ServerStatus},
    error::{Error, Result},
    scheduler::Reach,
    service::{
        network_refusal::{network_not_found, not_active},
        share_network::{self, check_active},
        share_refusal as refusal,
        share_type::handles_servers,
    },
    store::{
        StoreResult, Tx,
        sql::{share_network_subnets::SubnetRow, types::Type},
    },
};

/// There is such a share network, and nothing works on it.
///
/// # Errors
/// 400, 404.
pub async fn check_known(app: &App, ctx: &RequestContext, id: Option<&str>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    check_active(&share_network::load_row(app, ctx, id).await?)
}

/// The network reaches the zone that is asked for: with a subnet of it, or with a default one.
///
/// # Errors
/// 400.
pub async fn check_zone(app: &App, id: Option<&str>, zone: Option<&str>) -> Result<()> {
    let (Some(id), Some(zone)) = (id, zone) else { return Ok(()) };
    let subnets = app.store.subnets_of_all([id], false).await?.remove(id).unwrap_or_default();
    if subnets.iter().any(|s| s.row.availability_zone.as_deref().is_none_or(|z| z == zone)) {
        return Ok(());
    }
    Err(Error::invalid(format!("A share network subnet was not found for the requested availability zone ({zone:.64}).")))
}

/// In which zones the network has how many subnets.
pub async fn reach(app: &App, id: &str) -> StoreResult<Reach> {
    let mut reach = Reach::default();
    for subnet in app.store.subnets_of_all([id], false).await?.remove(id).unwrap_or_default() {
        match subnet.row.availability_zone {
            Some(zone) => *reach.zones.entry(zone).or_default() += 1,
            None => reach.default += 1,
        }
    }
    Ok(reach)
}

/// The subnets that serve a zone: its own, or the default ones where it has none.
pub fn in_zone(subnets: Vec<SubnetRow>, zone: Option<&str>) -> Vec<SubnetRow> {
    let (own, others): (Vec<_>, Vec<_>) = subnets.into_iter().partition(|s| zone.is_some() && s.availability_zone.as_deref() == zone);
    if own.is_empty() { others.into_iter().filter(|s| s.availability_zone.is_none()).collect() } else { own }
}

/// The network stays, and nothing works on it, until the transaction ends.
///
/// # Errors
/// As [`check_known`].
pub async fn keep(tx: &mut Tx, id: Option<&str>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    match tx.share_network_kept(id).await? {
        Some(network) => check_active(&network),
        None => Err(network_not_found(id)),
    }
}

/// The network is not being changed until the transaction ends: for what works on a share that is on it. Its driver is told what
/// is on a server, and answers for that; so nothing on the network grows, shrinks or goes before it has. What else the network
/// is (an operator may call it in error) keeps nobody from it.
///
/// # Errors
/// 400 while it is being changed.
pub async fn keep_still(tx: &mut Tx, id: Option<&str>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    match tx.share_network_kept(id).await? {
        Some(network) if network.status == NetworkStatus::NetworkChange.as_str() => Err(not_active(&network)),
        _ => Ok(()),
    }
}

/// The share's server, if it is on one, is what it was built as. While the caller keeps the network it stays so. Which rules
/// hold on one that failed nobody knows: to change one of them would take the others away.
///
/// # Errors
/// 400.
pub async fn check_server(tx: &mut Tx, share_id: &str) -> Result<()> {
    match tx.server_status_of_share(share_id).await? {
        Some(status) if status != ServerStatus::Active.as_str() => Err(refusal::invalid_share(format!(
            "The share server of share {share_id} failed or is being changed: access rules cannot be changed until it is healed."
        ))),
        _ => Ok(()),
    }
}

/// Shares whose servers the driver builds need a network; others have none.
///
/// # Errors
/// 400.
pub fn check_fits(share_type: &Type, id: Option<&str>) -> Result<()> {
    match (handles_servers(share_type), id) {
        (true, None) => Err(refusal::invalid_input("Share network must be set when the driver_handles_share_servers is true.")),
        (false, Some(_)) => Err(refusal::invalid_input("Share network can not be set when the driver_handles_share_servers is false.")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(id: &str, zone: Option<&str>) -> SubnetRow {
        SubnetRow {
            id: id.to_owned(),
            share_network_id: String::new(),
            availability_zone: zone.map(str::to_owned),
            neutron_net_id: None,
            neutron_subnet_id: None,
            network_type: None,
            segmentation_id: None,
            cidr: None,
            gateway: None,
            mtu: None,
            ip_version: None,
            created_at: 0,
            updated_at: None,
        }
    }

    #[test]
    fn a_zones_own_subnets_come_before_the_default_ones() {
        let all = vec![subnet("d", None), subnet("a", Some("nova")), subnet("b", Some("nova")), subnet("c", Some("far"))];
        let ids = |zone| in_zone(all.clone(), zone).into_iter().map(|s| s.id).collect::<Vec<_>>();
        assert_eq!(ids(Some("nova")), ["a", "b"]);
        assert_eq!(ids(Some("other")), ["d"]);
        assert_eq!(ids(None), ["d"]);
    }
}
