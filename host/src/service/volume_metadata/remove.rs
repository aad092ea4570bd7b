//! Removing one pair.

use super::show::no_such_key;
use crate::{
    app::App,
    context::RequestContext,
    domain::volume::VolumeStatus,
    error::Result,
    service::{refusal, volume::hold::hold},
    store::sql::metadata::MetadataOf,
};

/// # Errors
/// 400 during maintenance, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, volume_id: &str, key: &str) -> Result<()> {
    let (mut tx, row) = hold(app, ctx, volume_id, "volume:delete_volume_metadata").await?;
    if row.status == VolumeStatus::Maintenance.as_str() {
        return Err(refusal::invalid_volume("The volume metadata cannot be deleted when the volume is in maintenance mode."));
    }
    if !tx.metadata_remove(MetadataOf::Volume, volume_id, key).await? {
        return Err(no_such_key(volume_id, key));
    }
    Ok(tx.commit().await?)
}
