//! `GET /attachments` and `/attachments/detail`: by volume, instance and status.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{page::Page, refusal},
    store::{
        bind::Value,
        sql::attachments::{AttachmentFilter, AttachmentQuery, AttachmentRow, AttachmentSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListAttachments {
    pub page: Page,
    pub filters: Vec<AttachmentFilter>,
    /// Of every project, for an admin.
    pub all_tenants: bool,
}

/// # Errors
/// 403 (upstream has no action of its own for this, so the one of the volumes counts), 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListAttachments) -> Result<Vec<AttachmentRow>> {
    app.policy.check(ctx, "volume:get_all", &Target::own(ctx))?;
    let everywhere = ctx.is_admin() && ask.all_tenants;
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &ask.page).await?),
        None => None,
    };
    let mut filters = ask.filters;
    if !everywhere {
        filters.push(AttachmentFilter::Equals("project_id", Value::from(ctx.project_id())));
    }
    let query = AttachmentQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.attachments(&query).await?) }
}

/// Where a page begins.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let row = app.store.attachment(marker).await?;
    let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
    page.after::<AttachmentSort>(app, ctx, "attachment", marker, row).await?.ok_or_else(|| refusal::attachment_not_found(marker))
}
