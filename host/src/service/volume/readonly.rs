//! `os-update_readonly_flag`: whether later attachments may only read.

use super::hold::hold;
use crate::{app::App, clock, context::RequestContext, domain::volume::VolumeStatus, error::Result, service::refusal};

/// # Errors
/// 400 unless the volume is available, 403, 404.
pub async fn set(app: &App, ctx: &RequestContext, id: &str, readonly: bool) -> Result<()> {
    let (mut tx, row) = hold(app, ctx, id, "volume:update_readonly_flag").await?;
    if row.status != VolumeStatus::Available.as_str() {
        return Err(refusal::invalid_volume(format!(
            "Volume {id} status must be available to update readonly flag, but current status is: {}.",
            row.status
        )));
    }
    tx.volume_readonly(id, readonly, clock::now()).await?;
    Ok(tx.commit().await?)
}
