//! `os-set_bootable`.

use crate::{app::App, clock, context::RequestContext, error::Result, service::refusal};

/// # Errors
/// 403, 404.
pub async fn set(app: &App, ctx: &RequestContext, id: &str, bootable: bool) -> Result<()> {
    super::load_row_for(app, ctx, id, "volume:update").await?;
    let mut tx = app.store.begin().await?;
    if !tx.volume_bootable(id, bootable, clock::now()).await? {
        return Err(refusal::volume_not_found(id));
    }
    Ok(tx.commit().await?)
}
