//! `update_security_service`: one service takes the place of another of its kind.

use super::{check_active, check_replaces, check_servers_follow};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Kind, Result},
    service::{network_refusal as refusal, security_service},
    store::{
        StoreError,
        sql::{security_services::SecurityServiceRow, share_network_list::ShareNetwork},
    },
};

/// # Errors
/// 400 for a service that is not there, or when the network's servers could not follow or it is being worked on, 403, 404, 409
/// when the one is not used by the network or the other is of another kind.
pub async fn replace(app: &App, ctx: &RequestContext, id: &str, current_id: &str, new_id: &str) -> Result<ShareNetwork> {
    super::load_row_for(app, ctx, id, "share_network:update_security_service").await?;
    let (current, _) = both(app, ctx, current_id, new_id).await?;
    let mut tx = app.store.begin().await?;
    let Some(network) = tx.share_network_locked(id).await? else { return Err(refusal::network_not_found(id)) };
    check_active(&network)?;
    // held: its kind stays what it is, as that of the one in use does
    let Some(new) = tx.security_service_locked(new_id).await? else { return Err(unknown()) };
    check_replaces(&network, &tx.security_services_of(id).await?, &current, &new)?;
    check_servers_follow(&network, &tx.share_network_support(id).await?)?;
    tx.share_network_drop_service(id, current_id).await?;
    tx.share_network_use_service(id, new_id).await.map_err(|e| match e {
        StoreError::Missing { .. } => unknown(),
        e => e.into(),
    })?;
    tx.commit().await?;
    super::complete(app, id).await
}

/// Both services, if the caller may know of them.
pub(super) async fn both(app: &App, ctx: &RequestContext, current: &str, new: &str) -> Result<(SecurityServiceRow, SecurityServiceRow)> {
    let known = |e: Error| if e.kind == Kind::NotFound { unknown() } else { e };
    let current = security_service::load(app, ctx, current).await.map_err(known)?;
    Ok((current, security_service::load(app, ctx, new).await.map_err(known)?))
}

fn unknown() -> Error {
    Error::invalid("The current security service or the new security service doesn't exist.")
}
