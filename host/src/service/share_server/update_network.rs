//! The work of giving a live share server another subnet: its job, and beginning it again after it failed.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{share_network::NetworkStatus, share_server::ServerStatus},
    error::{Error, Result},
    jobs::NewJob,
    service::network_refusal as refusal,
    store::sql::share_servers::ShareServerRow,
};

/// The task.
pub const KIND: &str = "share_server.network_update";

/// What is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The subnets that the server is promised, one after the other.
    pub subnets: Vec<String>,
    /// It failed before: the access rules of the server's shares are applied again when it is done.
    #[serde(default)]
    pub again: bool,
}

/// It is the project's of the server, whoever asked.
pub fn job(app: &App, ctx: &RequestContext, server: &ShareServerRow, work: &Work) -> NewJob {
    let payload = json!({ "network_id": server.share_network_id, "work": work });
    NewJob { project_id: server.project_id.clone(), ..super::job(app, ctx, KIND, server, payload) }
}

/// `stowage manage share-server retry-network-update`: a server whose update failed is given the same subnets again, with the
/// addresses that it has in them.
///
/// # Errors
/// 404, 409 when no update of the server failed, something works on a share of its network, or the network is being changed.
pub async fn retry(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = app.store.share_server(id).await?.ok_or_else(|| refusal::server_not_found(id))?;
    let network_id = found.row.share_network_id;
    let mut tx = app.store.begin().await?;
    // the network first, as everybody who changes servers does
    let Some(network) = tx.share_network_locked(&network_id).await? else { return Err(refusal::network_not_found(&network_id)) };
    let Some(server) = tx.share_server_locked(id).await? else { return Err(refusal::server_not_found(id)) };
    let subnets = tx.promised_subnets(id).await?;
    if subnets.is_empty() {
        let next = if server.status == ServerStatus::Error.as_str() {
            format!(" It could not be built, or not be taken down: delete it (`openstack share server delete {id}`).")
        } else {
            String::new()
        };
        return Err(Error::conflict(format!("Share server {id} has every subnet of its network: no update of it failed.{next}")));
    }
    if let Some(share) = tx.network_share_in_work(&network_id).await? {
        return Err(Error::conflict(format!(
            "Something works on share {share} of share network {network_id}; try again when that has ended."
        )));
    }
    let now = clock::now();
    if !tx.share_network_status(&network_id, &[NetworkStatus::Active], NetworkStatus::NetworkChange, now).await? {
        return Err(Error::conflict(format!(
            "Share network {network_id} has the status {}; only an active one is changed.",
            network.status
        )));
    }
    // an operator may have called it active meanwhile
    if !tx.share_server_status(id, &[ServerStatus::Error, ServerStatus::Active], ServerStatus::NetworkChange, now).await? {
        return Err(Error::conflict(format!("Share server {id} has the status {}; only one in error is updated again.", server.status)));
    }
    tx.enqueue(&app.jobs, job(app, ctx, &server, &Work { subnets, again: true })).await?;
    Ok(tx.commit().await?)
}
