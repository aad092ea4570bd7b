//! `GET /snapshots/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::snapshot_list::Snapshot};

/// # Errors
/// 404 for an unknown id and for another project's.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<Snapshot> {
    super::load_for(app, ctx, id, "volume:get_snapshot").await
}
