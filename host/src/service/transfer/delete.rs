//! Withdraws an offer.

use crate::{app::App, clock, context::RequestContext, domain::volume::VolumeStatus, error::Result, service::volume::destroy::event_now};

/// # Errors
/// 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_for(app, ctx, id, "volume:delete_transfer").await?;
    let mut tx = app.store.begin().await?;
    tx.volume_locked(&found.volume_id).await?;
    event_now(&mut tx, "volume.transfer.delete.start", &found.volume_id, &ctx.request_id).await?;
    if !super::forget(&mut tx, &found, &ctx.request_id).await? {
        return Err(super::not_found(id));
    }
    // another status, which an operator gave it or its deletion did, stays
    tx.volume_status(&found.volume_id, &[VolumeStatus::AwaitingTransfer], VolumeStatus::Available, clock::now()).await?;
    event_now(&mut tx, "volume.transfer.delete.end", &found.volume_id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}
