//! The pairs of a rule.

use super::show::load_for;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{
        share_metadata::{no_such_key, write},
        volume_metadata::set::Manner,
    },
    store::sql::metadata::{MetadataOf, Pairs},
};

/// Adds or overwrites; all pairs afterwards.
///
/// # Errors
/// 403, 404.
pub async fn put(app: &App, ctx: &RequestContext, rule_id: &str, given: &[(String, String)]) -> Result<Pairs> {
    load_for(app, ctx, rule_id, "share_access_metadata:update").await?;
    let mut tx = app.store.begin().await?;
    let now = write(&mut tx, MetadataOf::ShareAccess, rule_id, given, Manner::Merge, &[]).await?;
    tx.commit().await?;
    Ok(now)
}

/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, rule_id: &str, key: &str) -> Result<()> {
    load_for(app, ctx, rule_id, "share_access_metadata:delete").await?;
    let mut tx = app.store.begin().await?;
    if !tx.metadata_remove(MetadataOf::ShareAccess, rule_id, key).await? {
        return Err(no_such_key(key));
    }
    Ok(tx.commit().await?)
}
