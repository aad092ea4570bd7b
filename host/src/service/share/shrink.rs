//! `shrink`: what is given back counts from when the back end did it.

use std::sync::Arc;

use serde_json::json;

use super::{check_not_busy, check_not_in_bin, destroy::event, limits, network};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share::{SHRINK_FROM, ShareStatus, is_one_of, joined},
    error::Result,
    service::share_refusal as refusal,
    store::sql::{shares::ShareRow, types::TypeOf},
};

/// # Errors
/// 400 when state or size do not allow it or its network is being changed, 403, 404.
pub async fn shrink(app: &Arc<App>, ctx: &RequestContext, id: &str, to_gib: i64) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share:shrink").await?;
    check_not_in_bin(&found, "shrink")?;
    let share_type = app.store.resource_type(TypeOf::Share, &found.share_type_id).await?;
    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    network::keep_still(&mut tx, found.share_network_id.as_deref()).await?;
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    check_not_in_bin(&share, "shrink")?;
    decide(&share, to_gib)?;
    if let Some(share_type) = &share_type {
        limits::check_least(share_type, to_gib)?;
    }
    if !tx.share_begin_resize(id, SHRINK_FROM, ShareStatus::Shrinking, to_gib, clock::now()).await? {
        return Err(refusal::invalid_share(format!("Share {id} is being resized and cannot be shrunk now.")));
    }
    tx.enqueue(&app.jobs, super::job(app, ctx, &share, "share.shrink", json!({ "to_gib": to_gib }))).await?;
    event(&mut tx, "share.shrink.start", &share, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// It may be shrunk so.
fn decide(share: &ShareRow, to_gib: i64) -> Result<()> {
    if !is_one_of(&share.status, SHRINK_FROM) {
        let wanted = joined(SHRINK_FROM);
        return Err(refusal::invalid_share(format!(
            "Share {} status must in ({wanted}) to shrink, but current status is: {}.",
            share.id, share.status
        )));
    }
    if share.host.is_none() {
        return Err(refusal::invalid_share(format!("Share {} is not on any back end and cannot be shrunk.", share.id)));
    }
    check_not_busy(share, refusal::invalid_share)?;
    if to_gib >= share.size_gib {
        return Err(refusal::invalid_input(format!(
            "New size for shrink must be less than current size and greater than 0 (current: {}, new: {to_gib}).",
            share.size_gib
        )));
    }
    Ok(())
}
