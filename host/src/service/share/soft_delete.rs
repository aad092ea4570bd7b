//! `soft_delete`: into the recycle bin, from where it can be restored until its time is over.

use super::{check_not_busy, check_not_in_bin, destroy::event_now};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share::{DELETE_FROM, joined},
    error::Result,
    service::{resource_lock, share_refusal as refusal},
};

/// # Errors
/// 403 also when its state does not allow it, it has snapshots, is locked or is there already; 404.
pub async fn soft_delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    super::load_row_for(app, ctx, id, "share:soft_delete").await?;
    let mut tx = app.store.begin().await?;
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    check_not_in_bin(&share, "soft delete")?;
    resource_lock::check_share_deletes(&mut tx, id).await?;
    let snapshots = tx.share_snapshot_count(id).await?;
    if snapshots > 0 {
        return Err(refusal::forbidden_share(refusal::has_snapshots(id, snapshots)));
    }
    check_not_busy(&share, refusal::forbidden_share)?;
    let now = clock::now();
    let until = now.saturating_add(clock::micros(app.config.get().share.soft_deleted_share_retention));
    if !tx.share_soft_delete(id, until, now).await? {
        return Err(refusal::forbidden_share(format!("Share status must be one of {}; it is {}.", joined(DELETE_FROM), share.status)));
    }
    event_now(&mut tx, "share.soft_delete", id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}
