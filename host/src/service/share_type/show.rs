//! `GET /types/{id}` and `GET /types/default`.

use super::{authorise, default_type, load};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    store::sql::types::Type,
};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<Type> {
    authorise(app, ctx, "share_type:show")?;
    load(app, ctx, id).await
}

/// # Errors
/// 403, 404 when there is none.
pub async fn default(app: &App, ctx: &RequestContext) -> Result<Type> {
    authorise(app, ctx, "share_type:default")?;
    default_type(app).await?.ok_or_else(|| Error::not_found("Default share type not found"))
}
