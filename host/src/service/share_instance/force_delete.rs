//! `force_delete` of an instance: its share goes, which has no other.

use std::sync::Arc;

use super::load_for;
use crate::{app::App, context::RequestContext, error::Result, service::share::delete};

/// # Errors
/// 400 when the share has snapshots or something works on it, 403, 404.
pub async fn force_delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let share = load_for(app, ctx, id, "share_instance:force_delete").await?;
    delete::begin_by_force(app, ctx, &share.id).await
}
