//! `PUT /snapshots/{id}`: name, description.

use super::destroy::event_now;
use crate::{
    app::App, clock, context::RequestContext, error::Result, service::share_refusal as refusal,
    store::sql::share_snapshot_list::ShareSnapshot,
};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateShareSnapshot {
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
}

/// # Errors
/// 403, 404.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateShareSnapshot) -> Result<ShareSnapshot> {
    super::load_row_for(app, ctx, id, "share:snapshot_update").await?;
    let (name, description) = (ask.name.as_ref().map(Option::as_deref), ask.description.as_ref().map(Option::as_deref));
    let mut tx = app.store.begin().await?;
    event_now(&mut tx, "share_snapshot.update.start", id, &ctx.request_id).await?;
    if !tx.share_snapshot_describe(id, name, description, clock::now()).await? {
        return Err(refusal::snapshot_not_found(id));
    }
    event_now(&mut tx, "share_snapshot.update.end", id, &ctx.request_id).await?;
    tx.commit().await?;
    super::load(app, ctx, id).await
}
