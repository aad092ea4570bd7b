//! `DELETE /share-networks/{id}/subnets/{id}`: the servers on it go with it, provided nothing is on them. It is gone for users
//! at once; its row stays until the last of them is torn down.

use std::sync::Arc;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    service::{network_refusal as refusal, share_server::teardown},
};

/// # Errors
/// 403, 404, 409 when a server on it has shares, is in work, or is not ours to delete.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, network_id: &str, id: &str) -> Result<()> {
    super::load_for(app, ctx, network_id, id, "share_network_subnet:delete").await?;
    let mut tx = app.store.begin().await?;
    // held from here on: no server is built over the subnet
    if tx.share_network_locked(network_id).await?.is_none() {
        return Err(refusal::network_not_found(network_id));
    }
    if !tx.subnets(network_id).await?.iter().any(|s| s.id == id) {
        return Err(refusal::subnet_not_found(id));
    }
    let servers = tx.share_servers_of(network_id, Some(id)).await?;
    for server in &servers {
        if tx.share_server_share_count(&server.id).await? > 0 {
            return Err(Error::conflict(format!(
                "Cannot delete share network subnet {id} of share network {network_id}, it has one or more shares."
            )));
        }
    }
    if servers.iter().any(|s| !s.is_auto_deletable) {
        return Err(refusal::not_auto_deletable(format!("the share network subnet {id} of share network {network_id}")));
    }
    for server in &servers {
        teardown::begin(&mut tx, app, ctx, server).await?;
    }
    tx.subnet_hide(id, clock::now()).await?;
    tx.share_network_reap(network_id).await?;
    Ok(tx.commit().await?)
}
