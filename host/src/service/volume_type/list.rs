//! `GET /types`.

use crate::{
    app::App,
    context::RequestContext,
    domain::volume_type::USER_VISIBLE_SPECS,
    error::{Kind, Result},
    policy::Target,
    service::{page::Page, refusal},
    store::{
        bind::Value,
        sql::types::{Type, TypeOf, TypeQuery, TypeSort},
    },
};

/// Their tombstones'.
pub(super) const KIND: &str = "volume_type";

/// Which types are asked for by their publicity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Publicity {
    /// Public ones and those given to the caller's project.
    #[default]
    Usable,
    Private,
    All,
}

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListTypes {
    pub page: Page,
    /// Counts for an admin only.
    pub publicity: Publicity,
    pub name: Option<String>,
    /// What the name has in it.
    pub name_part: Option<String>,
    pub specs: Vec<(String, String)>,
}

/// # Errors
/// 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListTypes) -> Result<Vec<Type>> {
    app.policy.check(ctx, "volume_extension:type_get_all", &Target::own(ctx))?;
    // a spec made for operators is not there for users, so nothing has it
    if !super::reads_all_specs(app, ctx) && ask.specs.iter().any(|(k, _)| !USER_VISIBLE_SPECS.contains(&k.as_str())) {
        return Ok(Vec::new());
    }
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let publicity = if ctx.is_admin() { ask.publicity } else { Publicity::Usable };
    let query = TypeQuery {
        visible_to: (publicity == Publicity::Usable).then(|| ctx.project_id().to_owned()),
        is_public: (publicity == Publicity::Private).then_some(false),
        name: ask.name,
        name_part: ask.name_part,
        specs: ask.specs,
        order: ask.page.order,
        after,
        limit: ask.page.limit,
        offset: ask.page.offset,
    };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.resource_types(TypeOf::Volume, &query).await?) }
}

/// Where a page begins. A deleted type is no secret: its tombstone belongs to whoever asks.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = match super::load(app, ctx, marker).await {
        Ok(found) => Some(found.row),
        Err(e) if e.kind == Kind::NotFound => None,
        Err(e) => return Err(e),
    };
    let row = row.as_ref().map(|r| (ctx.project_id(), r));
    page.after::<TypeSort>(app, ctx, KIND, marker, row).await?.ok_or_else(|| refusal::type_not_found(marker))
}
