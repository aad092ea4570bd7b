//! `GET /share-servers/{id}` and `/share-servers/{id}/details`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::share_servers::ShareServer};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareServer> {
    super::load_for(app, ctx, id, "share_server:show").await
}

/// What its driver keeps with it.
///
/// # Errors
/// 403, 404.
pub async fn details(app: &App, ctx: &RequestContext, id: &str) -> Result<Vec<(String, String)>> {
    Ok(super::load_for(app, ctx, id, "share_server:details").await?.row.details()?)
}
