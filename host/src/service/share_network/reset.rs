//! `reset_status`: an operator says what a share network is, unless its servers are being changed.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_network::{NetworkStatus, joined},
    error::{Error, Result},
    service::{decided, network_refusal as refusal},
};

/// # Errors
/// 400 for a word that is no status and while a job changes a server of it, 403, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let status = NetworkStatus::parse(word)
        .ok_or_else(|| Error::invalid(format!("Invalid status {word:.64?}. Valid statuses: {}.", joined(NetworkStatus::ALL))))?;
    super::load_row_for(app, ctx, id, "share_network:reset_status").await?;
    let mut tx = app.store.begin().await?;
    let Some(network) = tx.share_network_locked(id).await? else { return Err(refusal::network_not_found(id)) };
    if network.status == NetworkStatus::NetworkChange.as_str() {
        for server in tx.share_servers_of(id, None).await? {
            let refuse = |job: &str| Error::invalid(decided::says("Share network", id, &network.status, job));
            decided::check(&mut tx, &server.id, decided::SERVER_OF_CHANGING, refuse).await?;
        }
    }
    tracing::warn!(share_network_id = id, was = network.status, %status, "an operator gives a share network another status");
    tx.share_network_status(id, NetworkStatus::ALL, status, clock::now()).await?;
    Ok(tx.commit().await?)
}
