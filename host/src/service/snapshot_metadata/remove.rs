//! Removing one pair.

use super::show::no_such_key;
use crate::{app::App, context::RequestContext, error::Result, service::snapshot::hold::hold, store::sql::metadata::MetadataOf};

/// # Errors
/// 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, snapshot_id: &str, key: &str) -> Result<()> {
    let (mut tx, _) = hold(app, ctx, snapshot_id, "volume:delete_snapshot_metadata").await?;
    if !tx.metadata_remove(MetadataOf::Snapshot, snapshot_id, key).await? {
        return Err(no_such_key(snapshot_id, key));
    }
    Ok(tx.commit().await?)
}
