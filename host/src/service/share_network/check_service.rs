//! `add_security_service_check` and `update_security_service_check`: whether the servers of a network could follow.

use super::{check_active, check_kind_is_new, check_replaces, check_servers_follow, replace_service::both};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Kind, Result},
    service::{network_refusal as refusal, security_service},
    store::sql::{security_services::SecurityServiceRow, share_networks::ShareNetworkRow},
};

/// A network without servers can be given any service of a new kind.
///
/// # Errors
/// 400 also for a service that is not there, or when the servers could not follow, 403, 404, 409.
pub async fn add(app: &App, ctx: &RequestContext, id: &str, service_id: &str) -> Result<()> {
    super::load_row_for(app, ctx, id, "share_network:add_security_service_check").await?;
    let service = security_service::load(app, ctx, service_id).await.map_err(|e| match e.kind {
        Kind::NotFound => Error::invalid(format!("Security service {service_id:.64} doesn't exist.")),
        _ => e,
    })?;
    check(app, id, |network, has| check_kind_is_new(network, has, &service)).await
}

/// # Errors
/// As [`add`].
pub async fn replace(app: &App, ctx: &RequestContext, id: &str, current_id: &str, new_id: &str) -> Result<()> {
    super::load_row_for(app, ctx, id, "share_network:update_security_service_check").await?;
    let (current, new) = both(app, ctx, current_id, new_id).await?;
    check(app, id, |network, has| check_replaces(network, has, &current, &new)).await
}

async fn check(app: &App, id: &str, fits: impl Fn(&ShareNetworkRow, &[SecurityServiceRow]) -> Result<()>) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let Some(network) = tx.share_network_locked(id).await? else { return Err(refusal::network_not_found(id)) };
    let (has, support) = (tx.security_services_of(id).await?, tx.share_network_support(id).await?);
    tx.rollback().await?;
    check_active(&network)?;
    fits(&network, &has)?;
    check_servers_follow(&network, &support)
}
