//! Removing one pair.

use super::show::no_such_key;
use crate::{
    app::App,
    context::RequestContext,
    domain::volume::VolumeStatus,
    error::Result,
    service::{refusal, volume::load_row_for},
    store::sql::metadata::MetadataOf,
};

/// # Errors
/// 400 during maintenance, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, volume_id: &str, key: &str) -> Result<()> {
    load_row_for(app, ctx, volume_id, "volume:delete_volume_metadata").await?;
    let mut tx = app.store.begin().await?;
    let Some(row) = tx.volume_locked(volume_id).await? else { return Err(refusal::volume_not_found(volume_id)) };
    if row.status == VolumeStatus::Maintenance.as_str() {
        return Err(refusal::invalid_volume("The volume metadata cannot be deleted when the volume is in maintenance mode."));
    }
    if !tx.metadata_remove(MetadataOf::Volume, volume_id, key).await? {
        return Err(no_such_key(volume_id, key));
    }
    Ok(tx.commit().await?)
}
