//! `GET /snapshot-instances/{id}`.

use super::load_for;
use crate::{app::App, context::RequestContext, error::Result, store::sql::share_snapshot_list::ShareSnapshot};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareSnapshot> {
    let row = load_for(app, ctx, id, "share_snapshot_instance:show").await?;
    Ok(ShareSnapshot { row, metadata: Vec::new() })
}
