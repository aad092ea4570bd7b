//! Reading pairs.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::snapshot::load_for,
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

pub(super) fn no_such_key(snapshot_id: &str, key: &str) -> Error {
    Error::not_found(format!("Snapshot {snapshot_id} has no metadata with key {key:.255}."))
}
