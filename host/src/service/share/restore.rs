//! `restore`: out of the recycle bin.

use super::destroy::event_now;
use crate::{app::App, clock, context::RequestContext, error::Result, service::share_refusal as refusal};

/// False: it is not in the recycle bin.
///
/// # Errors
/// 403 also when it is being deleted, 404.
pub async fn restore(app: &App, ctx: &RequestContext, id: &str) -> Result<bool> {
    super::load_row_for(app, ctx, id, "share:restore").await?;
    let mut tx = app.store.begin().await?;
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    if !share.is_soft_deleted {
        return Ok(false);
    }
    if !tx.share_restore(id, clock::now()).await? {
        return Err(refusal::forbidden_share(format!("Share {id} is being deleted or failed to be deleted; it cannot be restored.")));
    }
    event_now(&mut tx, "share.restore", id, &ctx.request_id).await?;
    tx.commit().await?;
    Ok(true)
}
