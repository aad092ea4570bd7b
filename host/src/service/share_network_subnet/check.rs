//! `share_network_subnet_create_check`: whether a create would do, without doing it.

use super::{
    SubnetValues,
    in_use::{self, Checked},
};
use crate::{app::App, context::RequestContext, error::Result, service::share_network};

/// `anew`: drivers that were asked before are asked again.
///
/// # Errors
/// 400 for an unknown zone, while the network is being worked on, or when something on it is not at rest, 403, 404, 409 when its
/// servers can never be given another subnet, 503 when a back end is down.
pub async fn check(
    app: &App,
    ctx: &RequestContext,
    network_id: &str,
    values: SubnetValues,
    availability_zone: Option<String>,
    anew: bool,
) -> Result<Checked> {
    share_network::load_row_for(app, ctx, network_id, "share_network:subnet_create_check").await?;
    share_network::check_zone(app, availability_zone.as_deref()).await?;
    in_use::check(app, ctx, &values.row(network_id, availability_zone), anew).await
}
