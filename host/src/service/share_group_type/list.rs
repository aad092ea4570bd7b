//! `GET /share-group-types`.

use super::{GroupType, authorise};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::page::Page,
    store::sql::types::{TypeOf, TypeQuery},
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListGroupTypes {
    pub page: Page,
    /// For an administrator: public ones (and those given to its project), private ones, or all.
    pub is_public: Option<bool>,
    pub specs: Vec<(String, String)>,
}

/// The types the caller may use, or for an administrator those asked for.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListGroupTypes) -> Result<Vec<GroupType>> {
    authorise(app, ctx, "share_group_type:index")?;
    let is_public = if ctx.is_admin() { ask.is_public } else { Some(true) };
    let query = TypeQuery {
        visible_to: (is_public == Some(true)).then(|| ctx.project_id().to_owned()),
        is_public: (is_public == Some(false)).then_some(false),
        specs: ask.specs,
        order: ask.page.order,
        limit: ask.page.limit,
        offset: ask.page.offset,
        ..TypeQuery::default()
    };
    if query.limit == 0 {
        return Ok(Vec::new());
    }
    let found = app.store.resource_types(TypeOf::ShareGroup, &query).await?;
    let ids: Vec<&str> = found.iter().map(|t| t.row.id.as_str()).collect();
    let mut share_types = app.store.group_types_share_types(&ids).await?;
    Ok(found.into_iter().map(|of| GroupType { share_types: share_types.remove(&of.row.id).unwrap_or_default(), of }).collect())
}
