//! `GET /types/{id}`; the id may be `default`.

use crate::{app::App, context::RequestContext, error::Result, policy::Target, store::sql::types::Type};

/// # Errors
/// 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<Type> {
    app.policy.check(ctx, "volume_extension:type_get", &Target::own(ctx))?;
    if id == "default" {
        return super::default_type(app).await;
    }
    super::load(app, ctx, id).await
}
