//! The pairs of an export location. `preferred`, which only administrators write, says of the location what its driver would say
//! otherwise: whether it is the preferred one.

use super::share_for;
use crate::{
    app::App,
    context::RequestContext,
    domain::share_type::boolean,
    error::{Error, Result},
    policy::Target,
    service::{
        metadata::Manner,
        share::{load_row, load_row_for},
        share_metadata::{no_such_key, refuse, write},
        share_refusal::location_not_found,
    },
    store::{
        Tx,
        sql::{
            metadata::{MetadataOf, Pairs},
            share_locations::{LocationRow, PREFERRED},
        },
    },
};

/// All pairs, by key.
///
/// # Errors
/// 403, 404.
pub async fn all(app: &App, ctx: &RequestContext, share_id: &str, id: &str) -> Result<Pairs> {
    location(app, ctx, share_id, id, "share_export_location:get_metadata").await?;
    Ok(app.store.metadata(MetadataOf::ExportLocation, id).await?)
}

/// One value.
///
/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, share_id: &str, id: &str, key: &str) -> Result<String> {
    let pairs = all(app, ctx, share_id, id).await?;
    pairs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(key))
}

/// All pairs afterwards.
///
/// # Errors
/// 400, 403 also for keys that only administrators write, 404.
pub async fn set(app: &App, ctx: &RequestContext, share_id: &str, id: &str, given: &[(String, String)], manner: Manner) -> Result<Pairs> {
    let found = location_to_write(app, ctx, share_id, id, "share_export_location:update_metadata").await?;
    let protected = protected_keys(app, ctx);
    refuse(&protected, given.iter().map(|(k, _)| k.as_str()))?;
    let given = &with_flag(given)?;
    let mut tx = held(app, share_id, &found).await?;
    let now = write(&mut tx, MetadataOf::ExportLocation, id, given, manner, &protected).await?;
    tx.commit().await?;
    Ok(now)
}

/// # Errors
/// 403 also for a key that only administrators write, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, share_id: &str, id: &str, key: &str) -> Result<()> {
    let found = location_to_write(app, ctx, share_id, id, "share_export_location:delete_metadata").await?;
    refuse(&protected_keys(app, ctx), std::iter::once(key))?;
    let mut tx = held(app, share_id, &found).await?;
    if !tx.metadata_remove(MetadataOf::ExportLocation, id, key).await? {
        return Err(no_such_key(key));
    }
    Ok(tx.commit().await?)
}

fn protected_keys(app: &App, ctx: &RequestContext) -> Vec<String> {
    let may = app.policy.allows(ctx, "share_export_location:update_admin_only_metadata", &Target::own(ctx));
    if may { Vec::new() } else { app.config.get().share.admin_only_location_metadata.clone() }
}

/// As they are kept: the flag is one of two words.
fn with_flag(given: &[(String, String)]) -> Result<Pairs> {
    let kept = |(key, value): &(String, String)| -> Result<(String, String)> {
        if key != PREFERRED {
            return Ok((key.clone(), value.clone()));
        }
        let flag =
            boolean(value).ok_or_else(|| Error::invalid(format!("The value {value:.64?} of {PREFERRED} is neither true nor false.")));
        Ok((key.clone(), flag?.to_string()))
    };
    given.iter().map(kept).collect()
}

/// A transaction that holds the location's share: nobody else writes pairs of it, and it is there.
async fn held(app: &App, share_id: &str, found: &LocationRow) -> Result<Tx> {
    let mut tx = app.store.begin().await?;
    tx.share_locked(share_id).await?;
    let there = tx.share_locations(&found.share_instance_id).await?.iter().any(|l| l.id == found.id);
    if there { Ok(tx) } else { Err(location_not_found(&found.id)) }
}

async fn location(app: &App, ctx: &RequestContext, share_id: &str, id: &str, action: &str) -> Result<LocationRow> {
    load_row(app, ctx, share_id).await?;
    let share = share_for(app, ctx, share_id, action).await?;
    super::of_instance(app, ctx, &share.instance_id, id).await
}

/// Everybody may read of a public share, and only its own project writes.
async fn location_to_write(app: &App, ctx: &RequestContext, share_id: &str, id: &str, action: &str) -> Result<LocationRow> {
    let share = load_row_for(app, ctx, share_id, action).await?;
    super::of_instance(app, ctx, &share.instance_id, id).await
}
