//! `GET /share-networks/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::share_network_list::ShareNetwork};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareNetwork> {
    super::load_row_for(app, ctx, id, "share_network:show").await?;
    super::complete(app, id).await
}
