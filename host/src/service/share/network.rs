//! The share network a share is asked for on.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{
        network_refusal::network_not_found,
        share_network::{self, check_active},
        share_refusal as refusal,
        share_type::handles_servers,
    },
    store::{Tx, sql::types::Type},
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
