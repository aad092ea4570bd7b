//! `DELETE /resource-locks/{id}`.

use super::{check_handle, load, not_found};
use crate::{app::App, context::RequestContext, error::Result};

/// # Errors
/// 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let lock = load(app, ctx, id).await?;
    check_handle(app, ctx, &lock, "resource_lock:delete")?;
    let mut tx = app.store.begin().await?;
    if !tx.resource_lock_remove(id).await? {
        return Err(not_found(id));
    }
    Ok(tx.commit().await?)
}
