//! `reset_status` of an instance: of its snapshot, too, which shows its instance's status.

use super::load_for;
use crate::{
    app::App, context::RequestContext, domain::share_snapshot::INSTANCE_MAY_BE_TOLD, error::Result, service::share_snapshot::reset,
};

/// # Errors
/// 400 for another word than those an operator may say and while a job decides what it is, 403, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let snapshot = load_for(app, ctx, id, "share_snapshot_instance:reset_status").await?;
    reset::write(app, ctx, &snapshot, reset::allowed(word, INSTANCE_MAY_BE_TOLD)?).await
}
