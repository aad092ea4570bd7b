//! User messages: why something that was accepted came to nothing.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::page::{Page, to_tombstone},
    store::{
        bind::Value,
        sql::{
            backends::BackendKind,
            messages::{MessageFilter, MessageQuery, MessageRow, MessageSort},
            tombstones::Tombstone,
        },
    },
};

/// Their tombstones'.
const KIND: &str = "message";

/// One message of the caller's project.
///
/// # Errors
/// 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<MessageRow> {
    let found = load(app, ctx, id).await?;
    app.policy.check(ctx, "message:get", &Target::project(&found.project_id))?;
    Ok(found)
}

/// A page of the messages of the caller's project.
///
/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, page: Page, mut filters: Vec<MessageFilter>) -> Result<Vec<MessageRow>> {
    app.policy.check(ctx, "message:get_all", &Target::own(ctx))?;
    filters.push(MessageFilter::Equals("project_id", Value::from(ctx.project_id())));
    let after = match page.marker.as_deref() {
        Some(marker) => {
            let row = app.store.message(BackendKind::Block, marker).await?;
            let row = row.as_ref().map(|m| (m.project_id.as_str(), m));
            Some(page.after::<MessageSort>(app, ctx, KIND, marker, row).await?.ok_or_else(|| not_found(marker))?)
        }
        None => None,
    };
    let query = MessageQuery {
        service: BackendKind::Block,
        filters,
        now: clock::now(),
        order: page.order,
        after,
        limit: page.limit,
        offset: page.offset,
    };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.messages(&query).await?) }
}

/// # Errors
/// 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = load(app, ctx, id).await?;
    app.policy.check(ctx, "message:delete", &Target::project(&found.project_id))?;
    let mut tx = app.store.begin().await?;
    if !tx.delete_message(id).await? {
        return Err(not_found(id));
    }
    tx.tombstone(&Tombstone {
        kind: KIND,
        id: found.id.clone(),
        project_id: found.project_id.clone(),
        sort_keys: to_tombstone::<MessageSort>(&found),
        request_id: ctx.request_id.clone(),
        ..Tombstone::default()
    })
    .await?;
    Ok(tx.commit().await?)
}

async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<MessageRow> {
    match app.store.message(BackendKind::Block, id).await? {
        Some(m) if m.expires_at > clock::now() && (ctx.is_admin() || m.project_id == ctx.project_id()) => Ok(m),
        _ => Err(not_found(id)),
    }
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("Message {id:.255} could not be found."))
}
