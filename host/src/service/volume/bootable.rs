//! `os-set_bootable`. What several servers have at once becomes bootable only for those who may also attach it so.

use super::hold::hold;
use crate::{app::App, clock, context::RequestContext, error::Result, policy::Target, service::refusal};

/// # Errors
/// 403, 404.
pub async fn set(app: &App, ctx: &RequestContext, id: &str, bootable: bool) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume:update").await?;
    if bootable && volume.multiattach && tx.attachments_of(id).await?.len() > 1 {
        app.policy.check(ctx, "volume:multiattach_bootable_volume", &Target::project(&volume.project_id))?;
    }
    if !tx.volume_bootable(id, bootable, clock::now()).await? {
        return Err(refusal::volume_not_found(id));
    }
    Ok(tx.commit().await?)
}
