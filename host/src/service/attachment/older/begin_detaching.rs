//! `os-begin_detaching`: the detach is announced; nothing else begins on the volume until it has happened or was taken back.

use super::hold;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume::{AttachStatus, IDLE_MIGRATIONS, VolumeStatus},
    error::Result,
    service::refusal,
};

/// # Errors
/// 400 unless it is in use, 403, 404.
pub async fn begin_detaching(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:begin_detaching").await?;
    let idle = volume.migration_status.as_deref().is_none_or(|m| IDLE_MIGRATIONS.contains(&m));
    let attached = volume.status == VolumeStatus::InUse.as_str() && volume.attach_status == AttachStatus::Attached.as_str();
    if !idle || !attached || tx.attachments_leave(id, true).await? == 0 {
        return Err(refusal::invalid_volume(format!(
            "Unable to detach volume. Volume status must be 'in-use' and attach_status must be 'attached' to detach. Its status is {}.",
            volume.status
        )));
    }
    tx.volume_follow_attachments(id, clock::now()).await?;
    Ok(tx.commit().await?)
}
