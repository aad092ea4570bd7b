//! `DELETE /share-servers/{id}`: an operator has an idle server torn down. And the end of one that has been idle for long.

use std::sync::Arc;

use uuid::Uuid;

use super::teardown;
use crate::{
    app::App,
    clock::Micros,
    context::{Principal, RequestContext},
    domain::share_server::{DELETE_FROM, ServerStatus, joined},
    error::{Error, Result},
    service::network_refusal as refusal,
    store::Tx,
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

/// Deletes a server on nobody's behalf, provided that it is idle since `before` or longer. False: it is not any more.
///
/// # Errors
/// Of the database.
pub async fn idle(app: &Arc<App>, id: &str, network_id: &str, before: Micros) -> Result<bool> {
    let mut tx = app.store.begin().await?;
    tx.share_network_locked_if_deleted_too(network_id).await?;
    let begun = begin_if_idle(&mut tx, app, id, before).await?;
    if begun {
        tx.commit().await?;
    }
    Ok(begun)
}

/// As [`idle`], in the caller's transaction, which holds the server's network.
///
/// # Errors
/// Of the database, and 409 when something works on the server.
pub async fn begin_if_idle(tx: &mut Tx, app: &Arc<App>, id: &str, before: Micros) -> Result<bool> {
    let found = tx.share_server_locked(id).await?;
    let Some(server) = found.filter(|s| s.is_auto_deletable && s.idle_since.is_some_and(|since| since <= before)) else { return Ok(false) };
    if server.status != ServerStatus::Active.as_str() && !tx.share_server_never_built(id).await? {
        return Ok(false);
    }
    let ctx = RequestContext {
        request_id: format!("req-{}", Uuid::new_v4()),
        principal: Principal { project_id: server.project_id.clone(), ..Principal::default() },
        ..RequestContext::default()
    };
    teardown::begin(tx, app, &ctx, &server).await?;
    Ok(true)
}
