//! `share_network_subnet_create_check`: whether a create would do, without doing it.

use super::{create::zone, in_use};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{network_refusal as refusal, share_network},
};

/// True: it would. None: drivers are being asked.
///
/// # Errors
/// 400 for an unknown zone or while the network is being worked on, 403, 404, 409.
pub async fn check(app: &App, ctx: &RequestContext, network_id: &str, availability_zone: Option<&str>) -> Result<Option<bool>> {
    let network = share_network::load_row_for(app, ctx, network_id, "share_network:subnet_create_check").await?;
    share_network::check_zone(app, availability_zone).await?;
    let mut tx = app.store.begin().await?;
    if tx.share_network_locked(network_id).await?.is_none() {
        return Err(refusal::network_not_found(network_id));
    }
    let zone = zone(&mut tx, network_id, availability_zone).await?;
    tx.rollback().await?;
    if !zone.servers.is_empty() {
        in_use::check(app, ctx, &network, &zone).await?;
    }
    Ok(Some(true))
}
