//! `PUT /snapshots/{id}`: name, description.

use super::hold::hold_found;
use crate::{app::App, clock, context::RequestContext, error::Result, service::refusal, store::sql::snapshot_list::Snapshot};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateSnapshot {
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
}

/// # Errors
/// 403, 404.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateSnapshot) -> Result<Snapshot> {
    let mut snapshot = super::load_for(app, ctx, id, "volume:update_snapshot").await?;
    let (mut tx, held) = hold_found(app, &snapshot.row).await?;
    super::destroy::event(&mut tx, "snapshot.update.start", &held, &ctx.request_id).await?;
    tx.snapshot_describe(id, ask.name.as_ref().map(Option::as_deref), ask.description.as_ref().map(Option::as_deref), clock::now()).await?;
    snapshot.row = tx.snapshot(id).await?.ok_or_else(|| refusal::snapshot_not_found(id))?;
    super::destroy::event(&mut tx, "snapshot.update.end", &snapshot.row, &ctx.request_id).await?;
    tx.commit().await?;
    Ok(snapshot)
}
