//! `GET /share_instances/{id}`.

use super::load_for;
use crate::{app::App, context::RequestContext, error::Result, store::sql::share_list::Share};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<Share> {
    let row = load_for(app, ctx, id, "share_instance:show").await?;
    let locations = app.store.share_locations(id).await?;
    Ok(Share { row, metadata: Vec::new(), locations })
}
