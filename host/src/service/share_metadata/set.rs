//! Writing a share's pairs: merged into what is there, or in its place.

use super::{protected_keys, refuse, write};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{metadata::Manner, share::load_row_for, share_refusal as refusal},
    store::sql::metadata::{MetadataOf, Pairs},
};

/// All pairs afterwards.
///
/// # Errors
/// 403 also for keys that only administrators write, 404.
pub async fn set(app: &App, ctx: &RequestContext, share_id: &str, given: &[(String, String)], manner: Manner) -> Result<Pairs> {
    load_row_for(app, ctx, share_id, "share:update_share_metadata").await?;
    let protected = protected_keys(app, ctx, "share:update_admin_only_metadata");
    refuse(&protected, given.iter().map(|(k, _)| k.as_str()))?;
    let mut tx = app.store.begin().await?;
    if tx.share_locked(share_id).await?.is_none() {
        return Err(refusal::share_not_found(share_id));
    }
    let now = write(&mut tx, MetadataOf::Share, share_id, given, manner, &protected).await?;
    tx.commit().await?;
    Ok(now)
}
