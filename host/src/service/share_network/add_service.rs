//! `add_security_service`.

use super::{check_active, check_kind_is_new, check_servers_follow};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{network_refusal as refusal, security_service},
    store::{StoreError, sql::share_network_list::ShareNetwork},
};

/// From here on a network with servers may be asked to, too.
const IN_USE_SINCE: u16 = 63;

/// # Errors
/// 400 when its servers could not follow or it is being worked on, 403 also for one with servers before 2.63, 404, 409 for a
/// second service of a kind.
pub async fn add(app: &App, ctx: &RequestContext, id: &str, service_id: &str) -> Result<ShareNetwork> {
    super::load_row_for(app, ctx, id, "share_network:add_security_service").await?;
    security_service::load(app, ctx, service_id).await?;
    let mut tx = app.store.begin().await?;
    let Some(network) = tx.share_network_locked(id).await? else { return Err(refusal::network_not_found(id)) };
    let support = tx.share_network_support(id).await?;
    if support.servers > 0 && ctx.microversion < IN_USE_SINCE {
        return Err(Error::forbidden("Cannot add security services. Share network is used."));
    }
    check_active(&network)?;
    // held: its kind stays what it is
    let Some(service) = tx.security_service_locked(service_id).await? else { return Err(refusal::service_not_found(service_id)) };
    check_kind_is_new(&network, &tx.security_services_of(id).await?, &service)?;
    check_servers_follow(&network, &support)?;
    tx.share_network_use_service(id, service_id).await.map_err(|e| match e {
        StoreError::Missing { .. } => refusal::service_not_found(service_id),
        e => e.into(),
    })?;
    tx.commit().await?;
    super::complete(app, id).await
}
