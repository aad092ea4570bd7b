//! What a type asks of the back end of a group.

use super::{authorise, check_spec_count, check_specs, load, not_found};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::type_event::{self, Change},
    store::sql::types::TypeOf,
};

/// All specs, by key.
///
/// # Errors
/// 403, 404.
pub async fn all(app: &App, ctx: &RequestContext, type_id: &str) -> Result<Vec<(String, String)>> {
    authorise(app, ctx, "share_group_types_spec:index")?;
    Ok(load(app, ctx, type_id).await?.specs)
}

/// One value.
///
/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, type_id: &str, key: &str) -> Result<String> {
    authorise(app, ctx, "share_group_types_spec:show")?;
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

/// Adds or overwrites.
///
/// # Errors
/// 400 for specs out of bounds, 403, 404.
pub async fn put(app: &App, ctx: &RequestContext, type_id: &str, action: &str, specs: &[(String, String)]) -> Result<()> {
    authorise(app, ctx, action)?;
    check_specs(specs)?;
    let mut tx = app.store.begin().await?;
    let Some(mut merged) = tx.type_specs_locked(TypeOf::ShareGroup, type_id).await? else { return Err(not_found(type_id)) };
    merged.retain(|(k, _)| !specs.iter().any(|(new, _)| new == k));
    check_spec_count(merged.len() + specs.len())?;
    tx.type_specs_put(TypeOf::ShareGroup, type_id, specs).await?;
    type_event::tell(&mut tx, ctx, TypeOf::ShareGroup, type_id, Change::SpecsPut(specs)).await?;
    Ok(tx.commit().await?)
}

/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, type_id: &str, key: &str) -> Result<()> {
    authorise(app, ctx, "share_group_types_spec:delete")?;
    load(app, ctx, type_id).await?;
    let mut tx = app.store.begin().await?;
    if !tx.type_spec_remove(TypeOf::ShareGroup, type_id, key).await? {
        return Err(no_such_key(type_id, key));
    }
    type_event::tell(&mut tx, ctx, TypeOf::ShareGroup, type_id, Change::SpecRemove(key)).await?;
    Ok(tx.commit().await?)
}

fn no_such_key(type_id: &str, key: &str) -> Error {
    Error::not_found(format!("Share group type {type_id} has no specs with key {key:.255}."))
}
