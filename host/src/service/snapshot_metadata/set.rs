//! Writing pairs: merged into what is there, or in its place.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{metadata::Manner, snapshot::hold::hold, volume::create::check_metadata_count},
    store::sql::metadata::MetadataOf,
};

/// All pairs afterwards.
///
/// # Errors
/// 404, 413.
pub async fn set(
    app: &App,
    ctx: &RequestContext,
    snapshot_id: &str,
    pairs: &[(String, String)],
    manner: Manner,
) -> Result<Vec<(String, String)>> {
    check_metadata_count(pairs.len())?;
    let (mut tx, _) = hold(app, ctx, snapshot_id, "volume:update_snapshot_metadata").await?;
    if manner == Manner::Replace {
        tx.metadata_clear(MetadataOf::Snapshot, snapshot_id).await?;
    }
    tx.metadata_put(MetadataOf::Snapshot, snapshot_id, pairs).await?;
    let now = tx.metadata(MetadataOf::Snapshot, snapshot_id).await?;
    check_metadata_count(now.len())?;
    tx.commit().await?;
    Ok(now)
}
