//! `GET /share-group-types/{id}` and `/share-group-types/default`.

use super::{GroupType, authorise, load};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<GroupType> {
    authorise(app, ctx, "share_group_type:show")?;
    let of = load(app, ctx, id).await?;
    let share_types = app.store.group_types_share_types(&[id]).await?.remove(id).unwrap_or_default();
    Ok(GroupType { of, share_types })
}

/// There is none.
///
/// # Errors
/// 403, 404.
pub fn default(app: &App, ctx: &RequestContext) -> Result<GroupType> {
    authorise(app, ctx, "share_group_type:default")?;
    Err(Error::not_found("Default share group type not found."))
}
