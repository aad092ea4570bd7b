//! A type's extra specs. A share keeps what it took over from its type when it was made; what is placed later, or grows,
//! follows the specs as they are then.

use super::{authorise, check_spec_count, check_specs, load};
use crate::{
    app::App,
    context::RequestContext,
    domain::share_type::{HANDLES_SERVERS, SNAPSHOT_SUPPORT, tidied},
    error::{Error, Result},
    service::{
        share_refusal as refusal,
        type_event::{self, Change},
    },
    store::sql::types::TypeOf,
};

/// From here on a type may be without `snapshot_support`.
const SNAPSHOT_SUPPORT_OPTIONAL_SINCE: u16 = 24;

/// All specs, by key.
///
/// # Errors
/// 403, 404.
pub async fn all(app: &App, ctx: &RequestContext, type_id: &str) -> Result<Vec<(String, String)>> {
    authorise(app, ctx, "share_types_extra_spec:index")?;
    Ok(load(app, ctx, type_id).await?.specs)
}

/// One value.
///
/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, type_id: &str, key: &str) -> Result<String> {
    authorise(app, ctx, "share_types_extra_spec:show")?;
    let found = load(app, ctx, type_id).await?;
    found.spec(key).map(str::to_owned).ok_or_else(|| no_such_key(type_id, key))
}

/// Whoever may not write specs learns that before anything of the body.
///
/// # Errors
/// 403, 404.
pub async fn allowed(app: &App, ctx: &RequestContext, type_id: &str, action: &str) -> Result<()> {
    authorise(app, ctx, action)?;
    load(app, ctx, type_id).await.map(drop)
}

/// Adds or overwrites; what was written.
///
/// # Errors
/// 400 for specs that cannot work, 403, 404.
pub async fn put(
    app: &App,
    ctx: &RequestContext,
    type_id: &str,
    action: &str,
    specs: &[(String, String)],
) -> Result<Vec<(String, String)>> {
    authorise(app, ctx, action)?;
    check_specs(specs)?;
    let specs: Vec<(String, String)> = specs.iter().map(|(k, v)| (k.clone(), tidied(k, v))).collect();
    let mut tx = app.store.begin().await?;
    let Some(mut merged) = tx.type_specs_locked(TypeOf::Share, type_id).await? else { return Err(refusal::type_not_found()) };
    merged.retain(|(k, _)| !specs.iter().any(|(new, _)| new == k));
    check_spec_count(merged.len() + specs.len())?;
    tx.type_specs_put(TypeOf::Share, type_id, &specs).await?;
    type_event::tell(&mut tx, ctx, TypeOf::Share, type_id, Change::SpecsPut(&specs)).await?;
    tx.commit().await?;
    Ok(specs)
}

/// # Errors
/// 403 also for a spec that every type has, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, type_id: &str, key: &str) -> Result<()> {
    authorise(app, ctx, "share_types_extra_spec:delete")?;
    load(app, ctx, type_id).await?;
    if key == HANDLES_SERVERS || (key == SNAPSHOT_SUPPORT && ctx.microversion < SNAPSHOT_SUPPORT_OPTIONAL_SINCE) {
        return Err(Error::forbidden(format!("Extra spec '{key}' can't be deleted.")));
    }
    let mut tx = app.store.begin().await?;
    if tx.type_specs_locked(TypeOf::Share, type_id).await?.is_none() {
        return Err(refusal::type_not_found());
    }
    if !tx.type_spec_remove(TypeOf::Share, type_id, key).await? {
        return Err(no_such_key(type_id, key));
    }
    type_event::tell(&mut tx, ctx, TypeOf::Share, type_id, Change::SpecRemove(key)).await?;
    Ok(tx.commit().await?)
}

fn no_such_key(type_id: &str, key: &str) -> Error {
    Error::not_found(format!("Share Type {type_id} has no extra specs with key {key:.255}."))
}
