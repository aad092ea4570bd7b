//! User messages: why something that was accepted came to nothing. Each service has its own, and its own policy of them.

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

/// One message of the caller's project.
///
/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, of: BackendKind, id: &str) -> Result<MessageRow> {
    let found = load(app, ctx, of, id).await?;
    app.policy.check(ctx, policies(of).get, &Target::project(&found.project_id))?;
    Ok(found)
}

/// A page of the messages of the caller's project; the share service's administrators see every project's.
///
/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(
    app: &App,
    ctx: &RequestContext,
    of: BackendKind,
    page: Page,
    mut filters: Vec<MessageFilter>,
) -> Result<Vec<MessageRow>> {
    app.policy.check(ctx, policies(of).get_all, &Target::own(ctx))?;
    if of == BackendKind::Block || !ctx.is_admin() {
        filters.push(MessageFilter::Equals("project_id", Value::from(ctx.project_id())));
    }
    let after = match page.marker.as_deref() {
        Some(marker) => {
            let row = app.store.message(of, marker).await?;
            let row = row.as_ref().map(|m| (m.project_id.as_str(), m));
            Some(page.after::<MessageSort>(app, ctx, tombstone_kind(of), marker, row).await?.ok_or_else(|| not_found(marker))?)
        }
        None => None,
    };
    let query = MessageQuery { service: of, filters, now: clock::now(), order: page.order, after, limit: page.limit, offset: page.offset };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.messages(&query).await?) }
}

/// # Errors
/// 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, of: BackendKind, id: &str) -> Result<()> {
    let found = load(app, ctx, of, id).await?;
    app.policy.check(ctx, policies(of).delete, &Target::project(&found.project_id))?;
    let mut tx = app.store.begin().await?;
    if !tx.delete_message(id).await? {
        return Err(not_found(id));
    }
    tx.tombstone(&Tombstone {
        kind: tombstone_kind(of),
        id: found.id.clone(),
        project_id: found.project_id.clone(),
        sort_keys: to_tombstone::<MessageSort>(&found),
        request_id: ctx.request_id.clone(),
        ..Tombstone::default()
    })
    .await?;
    Ok(tx.commit().await?)
}

async fn load(app: &App, ctx: &RequestContext, of: BackendKind, id: &str) -> Result<MessageRow> {
    match app.store.message(of, id).await? {
        Some(m) if m.expires_at > clock::now() && (ctx.is_admin() || m.project_id == ctx.project_id()) => Ok(m),
        _ => Err(not_found(id)),
    }
}

/// What policy is asked.
struct Policies {
    get: &'static str,
    get_all: &'static str,
    delete: &'static str,
}

const fn policies(of: BackendKind) -> Policies {
    match of {
        BackendKind::Block => Policies { get: "message:get", get_all: "message:get_all", delete: "message:delete" },
        BackendKind::Share => Policies { get: "share/message:get", get_all: "share/message:get_all", delete: "share/message:delete" },
    }
}

const fn tombstone_kind(of: BackendKind) -> &'static str {
    match of {
        BackendKind::Block => "message",
        BackendKind::Share => "share_message",
    }
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("Message {id:.255} could not be found."))
}
