//! `DELETE /share-networks/{id}`: a network without shares goes, and its idle servers with it. It is gone for users at once;
//! its rows stay until the last server is torn down, which needs them.

use std::sync::Arc;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    service::{network_refusal as refusal, page::to_tombstone, share_server::teardown},
    store::sql::{share_network_list::NetworkSort, tombstones::Tombstone},
};

/// # Errors
/// 403, 404, 409 for one with shares, with more than one subnet, or with a server that is in work or not ours to delete.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    super::load_row_for(app, ctx, id, "share_network:delete").await?;
    let mut tx = app.store.begin().await?;
    let Some(network) = tx.share_network_locked(id).await? else { return Err(refusal::network_not_found(id)) };
    let shares = tx.share_network_share_count(id).await?;
    if shares > 0 {
        return Err(Error::conflict(format!("Can not delete share network {id}, it has {shares} share(s).")));
    }
    let subnets = tx.subnets(id).await?;
    if subnets.len() > 1 {
        return Err(Error::conflict(format!(
            "The share network {id} has more than one subnet attached. Please remove the subnets untill you have one or no subnets remaining."
        )));
    }
    let servers = tx.share_servers_of(id, None).await?;
    if servers.iter().any(|s| !s.is_auto_deletable) {
        let subnet = subnets.first().map(|s| s.id.as_str()).unwrap_or_default();
        return Err(refusal::not_auto_deletable(format!("the share network subnet {subnet}")));
    }
    for server in &servers {
        teardown::begin(&mut tx, app, ctx, server).await?;
    }
    tx.quota_change(&super::quota(&network, -1)).await.map_err(refusal::over_quota)?;
    tx.tombstone(&Tombstone {
        kind: "share_network",
        id: id.to_owned(),
        project_id: network.project_id.clone(),
        sort_keys: to_tombstone::<NetworkSort>(&network),
        request_id: ctx.request_id.clone(),
        ..Tombstone::default()
    })
    .await?;
    tx.share_network_hide(id, clock::now()).await?;
    tx.share_network_reap(id).await?;
    Ok(tx.commit().await?)
}
