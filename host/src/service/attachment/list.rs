//! `GET /attachments` and `/attachments/detail`: by volume, instance and status.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{
        page::{self, Page},
        refusal,
        volume::list::all_tenants,
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
    pub filters: Vec<(String, String)>,
}

/// # Errors
/// 400 for a bad filter or sort key, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: &ListAttachments) -> Result<Vec<AttachmentRow>> {
    let admin = ctx.is_admin();
    let mut query = AttachmentQuery { limit: ask.page.limit, offset: ask.page.offset, ..AttachmentQuery::default() };
    for (key, value) in &ask.filters {
        match key.as_str() {
            "all_tenants" => {}
            "volume_id" => query.volume_id = Some(value.clone()),
            "instance_id" | "instance_uuid" => query.instance_id = Some(value.clone()),
            "status" | "attach_status" => query.status = Some(value.clone()),
            "id" | "attachment_id" if admin => query.id = Some(value.clone()),
            "project_id" if admin => query.project_id = Some(value.clone()),
            _ if ctx.microversion < 31 || admin => {}
            _ => return Err(Error::invalid(format!("Invalid filters {key:.80} are found in query options."))),
        }
    }
    if !(admin && all_tenants(&ask.filters)) {
        query.project_id = Some(ctx.project_id().to_owned());
    }
    query.sort = ask.page.keys(AttachmentSort::parse, AttachmentSort::CreatedAt, AttachmentSort::Id)?;
    if let Some(marker) = ask.page.marker.as_deref() {
        query.after = Some(marker_values(app, ctx, marker, &query.sort).await?);
    }
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.attachments(&query).await?) }
}

async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, sort: &[(AttachmentSort, bool)]) -> Result<Vec<Value>> {
    let visible = |project: &str| ctx.is_admin() || project == ctx.project_id();
    if let Some(row) = app.store.attachment(marker).await? {
        if visible(&row.project_id) {
            return Ok(sort.iter().map(|(key, _)| key.value(&row)).collect());
        }
    } else if let Some(gone) = app.store.tombstone("attachment", marker).await?
        && visible(&gone.project_id)
        && let Some(values) = page::from_tombstone(&gone.sort_keys, sort.iter().map(|(key, _)| key.as_str()))
    {
        return Ok(values);
    }
    Err(refusal::attachment_not_found(marker))
}
