//! A type's extra specs. They do not change under volumes that were placed by them.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{
        refusal,
        type_event::{self, Change},
    },
    store::sql::types::TypeOf,
};

/// The specs the caller may read, by key.
///
/// # Errors
/// 404.
pub async fn all(app: &App, ctx: &RequestContext, type_id: &str) -> Result<Vec<(String, String)>> {
    app.policy.check(ctx, "volume_extension:types_extra_specs:index", &Target::own(ctx))?;
    let found = super::load(app, ctx, type_id).await?;
    Ok(super::readable_specs(&found, super::reads_all_specs(app, ctx)))
}

/// One value.
///
/// # Errors
/// 404 also for a key that is not there, or not for this caller.
pub async fn one(app: &App, ctx: &RequestContext, type_id: &str, key: &str) -> Result<String> {
    app.policy.check(ctx, "volume_extension:types_extra_specs:show", &Target::own(ctx))?;
    let found = super::load(app, ctx, type_id).await?;
    let specs = super::readable_specs(&found, super::reads_all_specs(app, ctx));
    specs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(type_id, key))
}

/// Adds or overwrites.
///
/// # Errors
/// 400 for specs that cannot work and for a type in use, 404.
pub async fn put(app: &App, ctx: &RequestContext, type_id: &str, action: &str, specs: &[(String, String)]) -> Result<()> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    super::load(app, ctx, type_id).await?;
    super::check_specs(specs)?;
    let mut tx = app.store.begin().await?;
    let Some(mut merged) = tx.type_specs_locked(TypeOf::Volume, type_id).await? else { return Err(refusal::type_not_found(type_id)) };
    if tx.type_in_use(TypeOf::Volume, type_id).await? {
        return Err(in_use());
    }
    merged.retain(|(k, _)| !specs.iter().any(|(new, _)| new == k));
    merged.extend_from_slice(specs);
    super::check_cacheable(&merged)?;
    super::check_spec_count(merged.len())?;
    tx.type_specs_put(TypeOf::Volume, type_id, specs).await?;
    type_event::tell(&mut tx, ctx, TypeOf::Volume, type_id, Change::SpecsPut(specs)).await?;
    Ok(tx.commit().await?)
}

/// # Errors
/// 400 for a type in use, 404 also for a key that is not there.
pub async fn remove(app: &App, ctx: &RequestContext, type_id: &str, key: &str) -> Result<()> {
    app.policy.check(ctx, "volume_extension:types_extra_specs:delete", &Target::own(ctx))?;
    super::load(app, ctx, type_id).await?;
    let mut tx = app.store.begin().await?;
    if tx.type_specs_locked(TypeOf::Volume, type_id).await?.is_none() {
        return Err(refusal::type_not_found(type_id));
    }
    if tx.type_in_use(TypeOf::Volume, type_id).await? {
        return Err(in_use());
    }
    if !tx.type_spec_remove(TypeOf::Volume, type_id, key).await? {
        return Err(no_such_key(type_id, key));
    }
    type_event::tell(&mut tx, ctx, TypeOf::Volume, type_id, Change::SpecRemove(key)).await?;
    Ok(tx.commit().await?)
}

fn in_use() -> Error {
    Error::invalid("Volume Type is currently in use.")
}

fn no_such_key(type_id: &str, key: &str) -> Error {
    Error::not_found(format!("Volume Type {type_id} has no extra specs with key {key:.255}."))
}
