//! `DELETE /share-servers/{id}`: an operator has an idle server torn down.

use std::sync::Arc;

use super::teardown;
use crate::{
    app::App,
    context::RequestContext,
    domain::share_server::{DELETE_FROM, ServerStatus, joined},
    error::{Error, Result},
    service::network_refusal as refusal,
};

/// # Errors
/// 403 also when its status does not allow it, 404, 409 when shares are on it.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_for(app, ctx, id, "share_server:delete").await?;
    let mut tx = app.store.begin().await?;
    // the network first, as everybody who changes servers does
    tx.share_network_kept(&found.row.share_network_id).await?;
    let Some(server) = tx.share_server_locked(id).await? else { return Err(refusal::server_not_found(id)) };
    if !ServerStatus::parse(&server.status).is_some_and(|s| DELETE_FROM.contains(&s)) {
        return Err(Error::forbidden(format!(
            "Share server's actual status is {}, allowed statuses for deletion are {}.",
            server.status,
            joined(DELETE_FROM)
        )));
    }
    teardown::begin(&mut tx, app, ctx, &server).await?;
    Ok(tx.commit().await?)
}
