//! `GET /attachments` and `/attachments/detail`: by volume, instance and status.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{
        page::{self, Page},
        refusal,
    },
    store::{
        bind::Value,
        sql::attachments::{AttachmentQuery, AttachmentRow, AttachmentSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListAttachments {
    pub page: Page,
    pub volume_id: Option<String>,
    pub instance_id: Option<String>,
    pub status: Option<String>,
    /// Of every project, for an admin.
    pub all_tenants: bool,
    /// Of one project, for an admin.
    pub project_id: Option<String>,
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
    let query = AttachmentQuery {
        project_id: if everywhere { ask.project_id } else { Some(ctx.project_id().to_owned()) },
        volume_id: ask.volume_id,
        instance_id: ask.instance_id,
        status: ask.status,
        order: ask.page.order,
        after,
        limit: ask.page.limit,
        offset: ask.page.offset,
    };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.attachments(&query).await?) }
}

async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, page: &Page) -> Result<Vec<Value>> {
    let visible = |project: &str| ctx.is_admin() || project == ctx.project_id();
    let keys = || page.order.iter().filter_map(|o| AttachmentSort::of_column(o.column));
    if let Some(row) = app.store.attachment(marker).await? {
        if visible(&row.project_id) {
            return Ok(keys().map(|key| key.value(&row)).collect());
        }
    } else if let Some(gone) = app.store.tombstone("attachment", marker).await?
        && visible(&gone.project_id)
        && let Some(values) = page::from_tombstone(&gone.sort_keys, keys().map(AttachmentSort::as_str))
    {
        return Ok(values);
    }
    Err(refusal::attachment_not_found(marker))
}
