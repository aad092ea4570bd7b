//! Pools and back ends as operators read them.

use crate::{
    app::App,
    context::RequestContext,
    domain::volume_type,
    error::{Error, Result},
    policy::Target,
    scheduler::{
        BackendKind, PoolRow,
        spec_match::{Dialect, capability_path, satisfies},
    },
    store::sql::{backends::BackendRow, types::Type},
};

/// `GET /scheduler-stats/get_pools`: every pool of the block service that its back end reports, by name.
///
/// # Errors
/// 403, 404 for an unknown type.
pub async fn list(app: &App, ctx: &RequestContext, name: Option<&str>, type_name: Option<&str>) -> Result<Vec<PoolRow>> {
    app.policy.check(ctx, "scheduler_extension:scheduler_stats:get_pools", &Target::own(ctx))?;
    let wanted = match type_name {
        Some(_) => Some(super::volume_type::usable(app, ctx, type_name).await?),
        None => None,
    };
    let mut pools = app.store.pools(BackendKind::Block).await?;
    pools.retain(|p| p.present && p.configured && name.is_none_or(|n| n == p.name) && wanted.as_ref().is_none_or(|t| suits(p, t)));
    Ok(pools)
}

/// Whether the pool has what the type asks.
fn suits(pool: &PoolRow, wanted: &Type) -> bool {
    let capabilities = pool.capabilities();
    wanted.specs().filter(|(key, _)| *key != volume_type::ZONES).all(|(key, requirement)| {
        let Some(path) = capability_path(key) else { return true };
        let mut found = capabilities.get(path[0]);
        for step in &path[1..] {
            found = found.and_then(|v| v.get(step));
        }
        found.is_some_and(|value| satisfies(value, requirement, Dialect::Block))
    })
}

/// The back end (and pool, after `#`) that `host` names.
///
/// # Errors
/// 403, 404.
pub async fn capabilities(app: &App, ctx: &RequestContext, host: &str) -> Result<(BackendRow, Option<PoolRow>)> {
    app.policy.check(ctx, "volume_extension:capabilities", &Target::own(ctx))?;
    let name = host.split_once('#').map_or(host, |(backend, _)| backend);
    let not_found = || Error::not_found(format!("Service {host:.255} could not be found."));
    let backend = app.store.backend(name).await?.filter(|b| b.kind == BackendKind::Block).ok_or_else(not_found)?;
    let pools = app.store.pools_of(name).await?;
    let pool =
        if host.contains('#') { Some(pools.into_iter().find(|p| p.name == host).ok_or_else(not_found)?) } else { pools.into_iter().next() };
    Ok((backend, pool))
}
