//! `reset_status`: an operator says what a share network is.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_network::NetworkStatus,
    error::{Error, Result},
    service::network_refusal as refusal,
};

/// # Errors
/// 400 for a word that is no status, 403, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let status = NetworkStatus::parse(word).ok_or_else(|| {
        let valid = NetworkStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ");
        Error::invalid(format!("Invalid status {word:.64?}. Valid statuses: {valid}."))
    })?;
    let network = super::load_row_for(app, ctx, id, "share_network:reset_status").await?;
    tracing::warn!(share_network_id = id, was = network.status, %status, "an operator gives a share network another status");
    let mut tx = app.store.begin().await?;
    if !tx.share_network_status(id, NetworkStatus::ALL, status, clock::now()).await? {
        return Err(refusal::network_not_found(id));
    }
    Ok(tx.commit().await?)
}
