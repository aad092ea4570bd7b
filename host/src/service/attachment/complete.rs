//! `os-complete`: the consumer has the device.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::attachment::STAYS,
    error::{Error, Result},
    service::refusal,
};

/// # Errors
/// 404, 409 while it is being deleted.
pub async fn complete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let attachment = super::load_for(app, ctx, id, "volume:attachment_complete").await?;
    let mut tx = app.store.begin().await?;
    if tx.volume_locked(&attachment.volume_id).await?.is_none() {
        return Err(refusal::attachment_not_found(id));
    }
    if !tx.attachment_complete(id, STAYS, clock::now()).await? {
        return Err(match tx.attachment(id).await? {
            None => refusal::attachment_not_found(id),
            Some(found) => Error::conflict(format!("The attachment cannot be completed: its status is {}.", found.status)),
        });
    }
    tx.volume_follow_attachments(&attachment.volume_id, clock::now()).await?;
    Ok(tx.commit().await?)
}
