//! `GET /security-services/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::security_services::SecurityServiceRow};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<SecurityServiceRow> {
    super::load_for(app, ctx, id, "security_service:show").await
}
