//! `GET /share-networks/{id}/subnets/{id}`.

use super::OfNetwork;
use crate::{app::App, context::RequestContext, error::Result};

/// # Errors
/// 403, 404 also for a subnet of another network.
pub async fn show(app: &App, ctx: &RequestContext, network_id: &str, id: &str) -> Result<OfNetwork> {
    super::load_for(app, ctx, network_id, id, "share_network_subnet:show").await
}
