//! `GET /attachments/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::attachments::AttachmentRow};

/// # Errors
/// 403 (upstream has no action of its own for this, so the one of the volume counts), 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<AttachmentRow> {
    super::load_for(app, ctx, id, "volume:get").await
}
