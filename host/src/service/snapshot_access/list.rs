//! `GET /snapshots/{id}/access-list`.

use super::check_mountable;
use crate::{app::App, context::RequestContext, error::Result, service::share_snapshot, store::sql::snapshot_access::SnapshotRuleRow};

/// The rules, the oldest first.
///
/// # Errors
/// 400 when it cannot be mounted, 403, 404.
pub async fn list(app: &App, ctx: &RequestContext, id: &str) -> Result<Vec<SnapshotRuleRow>> {
    check_mountable(&share_snapshot::load_row_for(app, ctx, id, "share_snapshot:access_list").await?)?;
    Ok(app.store.snapshot_rules(id).await?)
}
