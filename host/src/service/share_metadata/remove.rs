//! Removing one pair of a share.

use super::{no_such_key, protected_keys, refuse};
use crate::{app::App, context::RequestContext, error::Result, service::share::load_row_for, store::sql::metadata::MetadataOf};

/// # Errors
/// 403 also for a key that only administrators write, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, share_id: &str, key: &str) -> Result<()> {
    load_row_for(app, ctx, share_id, "share:delete_share_metadata").await?;
    refuse(&protected_keys(app, ctx, "share:update_admin_only_metadata"), std::iter::once(key))?;
    let mut tx = app.store.begin().await?;
    if !tx.metadata_remove(MetadataOf::Share, share_id, key).await? {
        return Err(no_such_key(key));
    }
    Ok(tx.commit().await?)
}
