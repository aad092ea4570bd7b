//! `unmanage`: a share server is forgotten, and stays on its back end as it is, with what is on it.

use std::sync::Arc;

use serde_json::json;

use super::{job, manage::check_exports};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_server::{ServerStatus, UNMANAGE_FROM, joined},
    error::{Error, Result},
    service::{network_refusal as refusal, share_network::check_active},
};

/// `force`: it is forgotten whatever its driver says.
///
/// # Errors
/// 400 for one with shares, on several subnets, in another status or on a network that is being changed, and without `force` when
/// its driver lets go of none; 403, 404.
pub async fn unmanage(app: &Arc<App>, ctx: &RequestContext, id: &str, force: bool) -> Result<()> {
    let found = super::load_for(app, ctx, id, "share_server:unmanage_share_server").await?;
    if !force {
        check_exports(app, &found.row.backend)?;
    }
    let mut tx = app.store.begin().await?;
    // the network first, as everybody who changes servers does
    let network = tx.share_network_kept(&found.row.share_network_id).await?;
    let Some(server) = tx.share_server_locked(id).await? else { return Err(refusal::server_not_found(id)) };
    if found.subnet_ids.len() > 1 {
        return Err(Error::invalid("Cannot unmanage the share server containing multiple subnets."));
    }
    if let Some(network) = &network {
        check_active(network)?;
    }
    if !ServerStatus::parse(&server.status).is_some_and(|s| UNMANAGE_FROM.contains(&s)) {
        return Err(Error::invalid(format!(
            "Share server's actual status is {}, allowed statuses for unmanaging are {}.",
            server.status,
            joined(UNMANAGE_FROM)
        )));
    }
    let shares = tx.share_server_share_count(id).await?;
    if shares > 0 {
        return Err(Error::invalid(format!("Share server {id} in use: it has {shares} share(s).")));
    }
    if !tx.share_server_status(id, UNMANAGE_FROM, ServerStatus::Unmanaging, clock::now()).await? {
        return Err(Error::conflict(format!("Share server {id} is being changed; try again when that has ended.")));
    }
    tx.enqueue(&app.jobs, job(app, ctx, "share_server.unmanage", &server, json!({ "force": force }))).await?;
    Ok(tx.commit().await?)
}
