//! The users' key/value pairs on a snapshot.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{refusal, snapshot::load_for, volume::create::check_metadata_count, volume_metadata::set::Manner},
    store::sql::metadata::MetadataOf,
};

/// All pairs, by key.
///
/// # Errors
/// 404.
pub async fn all(app: &App, ctx: &RequestContext, snapshot_id: &str) -> Result<Vec<(String, String)>> {
    Ok(load_for(app, ctx, snapshot_id, "volume:get_snapshot_metadata").await?.metadata)
}

/// One value.
///
/// # Errors
/// 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, snapshot_id: &str, key: &str) -> Result<String> {
    let pairs = all(app, ctx, snapshot_id).await?;
    pairs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(snapshot_id, key))
}

/// Writes pairs; all pairs afterwards.
///
/// # Errors
/// 404, 413.
pub async fn set(
    app: &App,
    ctx: &RequestContext,
    snapshot_id: &str,
    pairs: &[(String, String)],
    manner: Manner,
) -> Result<Vec<(String, String)>> {
    check_metadata_count(pairs.len())?;
    load_for(app, ctx, snapshot_id, "volume:update_snapshot_metadata").await?;
    let mut tx = app.store.begin().await?;
    if tx.snapshot_locked(snapshot_id).await?.is_none() {
        return Err(refusal::snapshot_not_found(snapshot_id));
    }
    if manner == Manner::Replace {
        tx.metadata_clear(MetadataOf::Snapshot, snapshot_id).await?;
    }
    tx.metadata_put(MetadataOf::Snapshot, snapshot_id, pairs).await?;
    let now = tx.metadata(MetadataOf::Snapshot, snapshot_id).await?;
    check_metadata_count(now.len())?;
    tx.commit().await?;
    Ok(now)
}

/// Removes one pair.
///
/// # Errors
/// 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, snapshot_id: &str, key: &str) -> Result<()> {
    load_for(app, ctx, snapshot_id, "volume:delete_snapshot_metadata").await?;
    let mut tx = app.store.begin().await?;
    if !tx.metadata_remove(MetadataOf::Snapshot, snapshot_id, key).await? {
        return Err(no_such_key(snapshot_id, key));
    }
    Ok(tx.commit().await?)
}

fn no_such_key(snapshot_id: &str, key: &str) -> Error {
    Error::not_found(format!("Snapshot {snapshot_id} has no metadata with key {key:.255}."))
}
