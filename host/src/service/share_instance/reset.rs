//! `reset_status` of an instance: of its share, too, which shows its instance's status.

use super::load_for;
use crate::{app::App, context::RequestContext, error::Result, service::share::reset};

/// # Errors
/// 400 for another word than those an operator may say and while a job decides what it is, 403, 404.
pub async fn status(app: &App, ctx: &RequestContext, id: &str, word: &str) -> Result<()> {
    let share = load_for(app, ctx, id, "share_instance:reset_status").await?;
    reset::write(app, ctx, &share.id, reset::allowed(word)?).await
}
