//! The pairs of a rule.

use super::show::load_for;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{
        metadata::Manner,
        share_metadata::{no_such_key, write},
        share_refusal::rule_not_found,
    },
    store::{
        Tx,
        sql::metadata::{MetadataOf, Pairs},
    },
};

/// Adds or overwrites; all pairs afterwards.
///
/// # Errors
/// 403, 404.
pub async fn put(app: &App, ctx: &RequestContext, rule_id: &str, given: &[(String, String)]) -> Result<Pairs> {
    let (share, _) = load_for(app, ctx, rule_id, "share_access_metadata:update").await?;
    let mut tx = held(app, &share.id, rule_id).await?;
    let now = write(&mut tx, MetadataOf::ShareAccess, rule_id, given, Manner::Merge, &[]).await?;
    tx.commit().await?;
    Ok(now)
}

/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, rule_id: &str, key: &str) -> Result<()> {
    let (share, _) = load_for(app, ctx, rule_id, "share_access_metadata:delete").await?;
    let mut tx = held(app, &share.id, rule_id).await?;
    if !tx.metadata_remove(MetadataOf::ShareAccess, rule_id, key).await? {
        return Err(no_such_key(key));
    }
    Ok(tx.commit().await?)
}

/// A transaction that holds the rule's share: nobody else writes pairs of the rule, and it is there.
async fn held(app: &App, share_id: &str, rule_id: &str) -> Result<Tx> {
    let mut tx = app.store.begin().await?;
    tx.share_locked(share_id).await?;
    if tx.share_rule(rule_id).await?.is_some() { Ok(tx) } else { Err(rule_not_found(rule_id)) }
}
