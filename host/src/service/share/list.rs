//! `GET /shares` and `/shares/detail`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{page::Page, share_refusal as refusal},
    store::{
        bind::Value,
        sql::share_list::{Share, ShareFilter, ShareQuery, ShareSort, With},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListShares {
    pub page: Page,
    pub filters: Vec<ShareFilter>,
    /// The policies that its filters need.
    pub needs: Vec<&'static str>,
    /// Of every project, for whoever may.
    pub all_tenants: bool,
    /// Those that other projects made public, too.
    pub public_too: bool,
    /// Those in the recycle bin instead of the others.
    pub in_bin: bool,
    pub with_count: bool,
    /// What is wanted beside the rows.
    pub with: With,
}

/// A page, and how many there are in all if that was asked.
#[derive(Debug)]
pub struct Listed {
    pub shares: Vec<Share>,
    pub count: Option<i64>,
}

/// # Errors
/// 403 for a filter that is not for everybody, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListShares) -> Result<Listed> {
    app.policy.check(ctx, "share:get_all", &Target::own(ctx))?;
    for action in &ask.needs {
        app.policy.check(ctx, action, &Target::own(ctx))?;
    }
    let filters = ask.scoped(app, ctx);
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let count = if ask.with_count { Some(app.store.share_count(&filters).await?) } else { None };
    let query = ShareQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    let shares = if query.limit == 0 { Vec::new() } else { app.store.shares(&query, ask.with).await? };
    Ok(Listed { shares, count })
}

/// Where a page begins.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = app.store.share(marker).await?;
    // a public one is in lists of others, too
    let row = row.as_ref().map(|r| (if r.is_public { "" } else { r.project_id.as_str() }, r));
    page.after::<ShareSort>(app, ctx, "share", marker, row).await?.ok_or_else(|| refusal::share_not_found(marker))
}

impl ListShares {
    /// The filters, with whose shares are wanted among them.
    fn scoped(&self, app: &App, ctx: &RequestContext) -> Vec<ShareFilter> {
        let mut filters = Vec::with_capacity(self.filters.len() + 2);
        let project = ctx.project_id().to_owned();
        if !(self.all_tenants && app.policy.allows(ctx, "share:list_all_projects", &Target::own(ctx))) {
            filters.push(if self.public_too { ShareFilter::ProjectOrPublic(project) } else { ShareFilter::Project(project) });
        }
        filters.push(ShareFilter::Equals("s.is_soft_deleted", Value::from(self.in_bin)));
        filters.extend(self.filters.iter().cloned());
        filters
    }
}
