//! The end of a share server: the one place where it is begun, whoever asked (an operator, the deletion of its network or of a
//! subnet).

use std::sync::Arc;

use serde_json::json;

use super::job;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_server::{DELETE_FROM, ServerStatus},
    error::{Error, Result},
    store::{Tx, sql::share_servers::ShareServerRow},
};

/// Begins it in the caller's transaction, which holds the server, or its network against new shares. What is on the server decides:
/// a server with shares stays. One that goes already goes on.
///
/// # Errors
/// 409 when shares are on it or something works on it.
pub async fn begin(tx: &mut Tx, app: &Arc<App>, ctx: &RequestContext, server: &ShareServerRow) -> Result<()> {
    if tx.share_server_share_count(&server.id).await? > 0 {
        return Err(Error::conflict(format!("Share server {} in use.", server.id)));
    }
    if server.status == ServerStatus::Deleting.as_str() {
        return Ok(());
    }
    if !ServerStatus::parse(&server.status).is_some_and(|s| DELETE_FROM.contains(&s)) {
        return Err(Error::conflict(format!("Share server {} is {}; try again when that has ended.", server.id, server.status)));
    }
    if !tx.share_server_status(&server.id, DELETE_FROM, ServerStatus::Deleting, clock::now()).await? {
        return Err(Error::conflict(format!("Share server {} is being changed; try again when that has ended.", server.id)));
    }
    tx.enqueue(&app.jobs, job(app, ctx, "share_server.delete", server, json!({ "was": server.status }))).await?;
    Ok(())
}
