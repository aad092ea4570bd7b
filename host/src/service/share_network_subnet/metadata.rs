//! The users' pairs on subnets.

use super::load_for;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{
        metadata::Manner,
        network_refusal as refusal,
        share_metadata::{no_such_key, protected_keys, refuse, write},
    },
    store::sql::metadata::{MetadataOf, Pairs},
};

const ADMIN_ONLY: &str = "share:update_admin_only_metadata";

/// All pairs, by key.
///
/// # Errors
/// 403, 404.
pub async fn all(app: &App, ctx: &RequestContext, network_id: &str, id: &str) -> Result<Pairs> {
    Ok(load_for(app, ctx, network_id, id, "share_network_subnet:get_metadata").await?.subnet.metadata)
}

/// One value.
///
/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, network_id: &str, id: &str, key: &str) -> Result<String> {
    let pairs = all(app, ctx, network_id, id).await?;
    pairs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(key))
}

/// All pairs afterwards.
///
/// # Errors
/// 403 also for keys that only administrators write, 404.
pub async fn set(app: &App, ctx: &RequestContext, network_id: &str, id: &str, given: &[(String, String)], manner: Manner) -> Result<Pairs> {
    load_for(app, ctx, network_id, id, "share_network_subnet:update_metadata").await?;
    let protected = protected_keys(app, ctx, ADMIN_ONLY);
    refuse(&protected, given.iter().map(|(k, _)| k.as_str()))?;
    let mut tx = app.store.begin().await?;
    // held from here on: the subnet is not deleted meanwhile, and two that replace all pairs take turns
    let held = tx.share_network_locked(network_id).await?.is_some() && tx.subnets(network_id).await?.iter().any(|s| s.id == id);
    if !held {
        return Err(refusal::subnet_not_found(id));
    }
    let now = write(&mut tx, MetadataOf::Subnet, id, given, manner, &protected).await?;
    tx.commit().await?;
    Ok(now)
}

/// # Errors
/// 403 also for a key that only administrators write, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, network_id: &str, id: &str, key: &str) -> Result<()> {
    load_for(app, ctx, network_id, id, "share_network_subnet:delete_metadata").await?;
    refuse(&protected_keys(app, ctx, ADMIN_ONLY), std::iter::once(key))?;
    let mut tx = app.store.begin().await?;
    if !tx.metadata_remove(MetadataOf::Subnet, id, key).await? {
        return Err(no_such_key(key));
    }
    Ok(tx.commit().await?)
}
