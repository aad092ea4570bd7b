//! `GET /resource-locks/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::resource_locks::LockRow};

/// # Errors
/// 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<LockRow> {
    super::load(app, ctx, id).await
}
