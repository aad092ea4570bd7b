//! The end of a share server: the one place where it is begun, whoever asked (an operator, the deletion of its network or of a
//! subnet).

use std::sync::Arc;

use crate::{
    app::App,
    context::RequestContext,
    domain::share_server::{DELETE_FROM, ServerStatus},
    error::{Error, Kind, Result},
    store::{Tx, sql::share_servers::ShareServerRow},
};

/// Begins it in the caller's transaction, which holds the server's network. What is on the server decides: a server with shares
/// stays.
///
/// # Errors
/// 409 when shares are on it or something works on it.
pub async fn begin(tx: &mut Tx, _app: &Arc<App>, _ctx: &RequestContext, server: &ShareServerRow) -> Result<()> {
    if tx.share_server_share_count(&server.id).await? > 0 {
        return Err(Error::conflict(format!("Share server {} in use.", server.id)));
    }
    if !ServerStatus::parse(&server.status).is_some_and(|s| DELETE_FROM.contains(&s)) {
        return Err(Error::conflict(format!("Share server {} is {}; try again when that has ended.", server.id, server.status)));
    }
    Err(Error::new(Kind::Unavailable, format!("Share server {} cannot be torn down: no process does that work.", server.id)))
}
