//! `GET /snapshots/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::share_snapshot_list::ShareSnapshot};

/// # Errors
/// 404 for an unknown id and for another project's.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareSnapshot> {
    super::load(app, ctx, id).await
}
