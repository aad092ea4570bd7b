//! `os-roll_detaching`: an announced detach does not happen. Where none was announced it does nothing.

use super::hold;
use crate::{app::App, clock, context::RequestContext, error::Result};

/// # Errors
/// 403, 404.
pub async fn roll_detaching(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let (mut tx, _) = hold(app, ctx, id, "volume_extension:volume_actions:roll_detaching").await?;
    if tx.attachments_leave(id, false).await? > 0 {
        tx.volume_follow_attachments(id, clock::now()).await?;
    }
    Ok(tx.commit().await?)
}
