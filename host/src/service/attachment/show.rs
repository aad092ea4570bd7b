//! `GET /attachments/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::attachments::AttachmentRow};

/// # Errors
/// 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<AttachmentRow> {
    super::load(app, ctx, id).await
}
