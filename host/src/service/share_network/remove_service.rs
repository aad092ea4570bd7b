//! `remove_security_service`.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{network_refusal as refusal, security_service},
    store::sql::share_network_list::ShareNetwork,
};

/// # Errors
/// 400 when the network does not use it, 403 also for a network with servers, 404.
pub async fn remove(app: &App, ctx: &RequestContext, id: &str, service_id: &str) -> Result<ShareNetwork> {
    super::load_row_for(app, ctx, id, "share_network:remove_security_service").await?;
    let mut tx = app.store.begin().await?;
    if tx.share_network_locked(id).await?.is_none() {
        return Err(refusal::network_not_found(id));
    }
    if tx.share_network_support(id).await?.servers > 0 {
        return Err(Error::forbidden("Cannot remove security services. Share network is used."));
    }
    if !tx.share_network_drop_service(id, service_id).await? {
        tx.rollback().await?;
        security_service::load(app, ctx, service_id).await?;
        return Err(Error::invalid(format!(
            "Failed to dissociate share network {id} and security service {service_id}: No association defined."
        )));
    }
    tx.commit().await?;
    super::complete(app, id).await
}
