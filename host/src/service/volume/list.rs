//! `GET /volumes` and `/volumes/detail`: keyset pages, and a marker that may be deleted.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{page::Page, refusal},
    store::{
        bind::Value,
        sql::volume_list::{Volume, VolumeFilter, VolumeQuery, VolumeSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListVolumes {
    pub page: Page,
    pub filters: Vec<VolumeFilter>,
    /// Of every project, for an admin.
    pub all_tenants: bool,
    pub with_count: bool,
    /// Metadata and attachments are wanted, too.
    pub detail: bool,
}

/// A page, and how many there are in all if that was asked.
#[derive(Debug)]
pub struct Listed {
    pub volumes: Vec<Volume>,
    pub count: Option<i64>,
}

/// # Errors
/// 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListVolumes) -> Result<Listed> {
    let filters = ask.scoped(app, ctx)?;
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let count = if ask.with_count { Some(app.store.volume_totals(&filters).await?.0) } else { None };
    let query = VolumeQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    let volumes = if query.limit == 0 { Vec::new() } else { app.store.volumes(&query, ask.detail).await? };
    Ok(Listed { volumes, count })
}

/// Where a page begins.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = app.store.volume(marker).await?;
    let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
    page.after::<VolumeSort>(app, ctx, "volume", marker, row).await?.ok_or_else(|| refusal::volume_not_found(marker))
}

impl ListVolumes {
    /// The filters, with the caller's own project among them unless an admin asks for all.
    ///
    /// # Errors
    /// 403.
    pub fn scoped(&self, app: &App, ctx: &RequestContext) -> Result<Vec<VolumeFilter>> {
        app.policy.check(ctx, "volume:get_all", &Target::own(ctx))?;
        let mut filters = Vec::with_capacity(self.filters.len() + 1);
        if !(ctx.is_admin() && self.all_tenants) {
            filters.push(VolumeFilter::Project(ctx.project_id().to_owned()));
        }
        filters.extend(self.filters.iter().cloned());
        Ok(filters)
    }
}
