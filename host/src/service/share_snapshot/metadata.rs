//! The users' key/value pairs on snapshots.

use super::load_row_for;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{
        metadata::Manner,
        share_metadata::{no_such_key, write},
        share_refusal as refusal,
    },
    store::sql::metadata::{MetadataOf, Pairs},
};

/// All pairs, by key.
///
/// # Errors
/// 403, 404.
pub async fn all(app: &App, ctx: &RequestContext, id: &str) -> Result<Pairs> {
    load_row_for(app, ctx, id, "share_snapshot:get_metadata").await?;
    Ok(app.store.metadata(MetadataOf::ShareSnapshot, id).await?)
}

/// One value.
///
/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, id: &str, key: &str) -> Result<String> {
    let pairs = all(app, ctx, id).await?;
    pairs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(key))
}

/// Merged into what is there, or in its place; all pairs afterwards.
///
/// # Errors
/// 403, 404.
pub async fn set(app: &App, ctx: &RequestContext, id: &str, given: &[(String, String)], manner: Manner) -> Result<Pairs> {
    load_row_for(app, ctx, id, "share_snapshot:update_metadata").await?;
    let mut tx = app.store.begin().await?;
    if tx.share_snapshot_locked(id).await?.is_none() {
        return Err(refusal::snapshot_not_found(id));
    }
    let now = write(&mut tx, MetadataOf::ShareSnapshot, id, given, manner, &[]).await?;
    tx.commit().await?;
    Ok(now)
}

/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, id: &str, key: &str) -> Result<()> {
    load_row_for(app, ctx, id, "share_snapshot:delete_metadata").await?;
    let mut tx = app.store.begin().await?;
    if !tx.metadata_remove(MetadataOf::ShareSnapshot, id, key).await? {
        return Err(no_such_key(key));
    }
    Ok(tx.commit().await?)
}
