//! `GET /types`.

use super::authorise;
use crate::{
    app::App,
    context::RequestContext,
    domain::share_type::{USER_VISIBLE_SPECS, ZONES, zones},
    error::Result,
    service::page::Page,
    store::sql::types::{Type, TypeOf, TypeQuery},
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListTypes {
    pub page: Page,
    /// For an administrator: public ones (and those given to its project), private ones, or all.
    pub is_public: Option<bool>,
    pub specs: Vec<(String, String)>,
}

/// The types the caller may use, or for an administrator those asked for.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListTypes) -> Result<Vec<Type>> {
    authorise(app, ctx, "share_type:index")?;
    // a spec made for operators is not there for users, so nothing has it
    if !super::reads_all_specs(ctx) && ask.specs.iter().any(|(k, _)| !USER_VISIBLE_SPECS.contains(&k.as_str())) {
        return Ok(Vec::new());
    }
    let wanted_zones: Vec<String> = ask.specs.iter().filter(|(k, _)| k == ZONES).flat_map(|(_, v)| zones(v)).collect();
    let is_public = if ctx.is_admin() { ask.is_public } else { Some(true) };
    let query = TypeQuery {
        visible_to: (is_public == Some(true)).then(|| ctx.project_id().to_owned()),
        is_public: (is_public == Some(false)).then_some(false),
        name: None,
        name_part: None,
        specs: ask.specs.into_iter().filter(|(k, _)| k != ZONES).collect(),
        order: ask.page.order,
        after: None,
        limit: ask.page.limit,
        offset: ask.page.offset,
    };
    if query.limit == 0 {
        return Ok(Vec::new());
    }
    if wanted_zones.is_empty() {
        return Ok(app.store.resource_types(TypeOf::Share, &query).await?);
    }
    // zones are words within a text: the page is cut from those that fit, which are read one after the other
    let (limit, offset) = (usize::try_from(query.limit).unwrap_or(usize::MAX), usize::try_from(query.offset).unwrap_or(0));
    let all = app.store.resource_types(TypeOf::Share, &TypeQuery { limit: i64::MAX, offset: 0, ..query }).await?;
    // a type without zones is for any
    let fits = |t: &Type| t.spec(ZONES).is_none_or(|has| wanted_zones.iter().all(|z| zones(has).contains(z)));
    Ok(all.into_iter().filter(fits).skip(offset).take(limit).collect())
}
