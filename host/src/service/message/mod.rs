//! User messages: why something that was accepted came to nothing.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    store::sql::messages::{MessageFilter, MessageRow},
};

/// One message of the caller's project.
///
/// # Errors
/// 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<MessageRow> {
    let found = load(app, ctx, id).await?;
    app.policy.check(ctx, "message:get", &Target::project(&found.project_id))?;
    Ok(found)
}

/// Messages, newest first.
///
/// # Errors
/// 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, mut filter: MessageFilter, marker: Option<&str>, limit: i64) -> Result<Vec<MessageRow>> {
    app.policy.check(ctx, "message:get_all", &Target::own(ctx))?;
    filter.project_id = Some(ctx.project_id().to_owned());
    let after = match marker {
        Some(marker) => Some(load(app, ctx, marker).await?),
        None => None,
    };
    let after = after.as_ref().map(|m| (m.created_at, m.id.as_str()));
    if limit == 0 { Ok(Vec::new()) } else { Ok(app.store.list_messages(&filter, after, limit).await?) }
}

/// # Errors
/// 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = load(app, ctx, id).await?;
    app.policy.check(ctx, "message:delete", &Target::project(&found.project_id))?;
    let mut tx = app.store.begin().await?;
    if !tx.delete_message(id).await? {
        return Err(not_found(id));
    }
    Ok(tx.commit().await?)
}

async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<MessageRow> {
    match app.store.message(id).await? {
        Some(m) if m.expires_at > clock::now() && (ctx.is_admin() || m.project_id == ctx.project_id()) => Ok(m),
        _ => Err(not_found(id)),
    }
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("Message {id:.255} could not be found."))
}
