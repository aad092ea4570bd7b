//! `GET /security-services/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::security_services::SecurityServiceRow};

/// # Errors
/// 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<SecurityServiceRow> {
    super::load(app, ctx, id).await
}
