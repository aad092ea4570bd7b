//! Pools and back ends as operators read them.

use crate::{
    app::App,
    context::RequestContext,
    domain::{host::backend_of, share_type, volume_type},
    error::Result,
    policy::Target,
    scheduler::{
        BackendKind, PoolRow,
        spec_match::{Dialect, capability_path, satisfies},
    },
    service::backend::not_found,
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
    let mut pools = reported(app, BackendKind::Block, wanted.as_ref()).await?;
    pools.retain(|p| name.is_none_or(|n| n == p.name));
    Ok(pools)
}

/// Which pools of shares are wanted; none is any. Each word is a name, its beginning, or has `.*` for whatever.
#[derive(Debug, Clone, Default)]
pub struct SharePools<'a> {
    pub host: Option<&'a str>,
    pub backend: Option<&'a str>,
    pub pool: Option<&'a str>,
    /// Id or name.
    pub share_type: Option<&'a str>,
}

/// `GET /scheduler-stats/pools`, also in detail: every pool of the share service that its back end reports, by name.
///
/// # Errors
/// 403, 404 for an unknown type.
pub async fn of_shares(app: &App, ctx: &RequestContext, detail: bool, wanted: &SharePools<'_>) -> Result<Vec<PoolRow>> {
    let action = if detail { "scheduler_stats:pools:detail" } else { "scheduler_stats:pools:index" };
    app.policy.check(ctx, action, &Target::own(ctx))?;
    let of_type = match wanted.share_type {
        Some(name) => Some(super::share_type::usable(app, ctx, name).await?),
        None => None,
    };
    let mut pools = reported(app, BackendKind::Share, of_type.as_ref()).await?;
    pools.retain(|p| {
        let (host, backend, pool) = parts(&p.name);
        let fits = |wanted: Option<&str>, found: &str| wanted.is_none_or(|w| like(w, found));
        fits(wanted.host, host) && fits(wanted.backend, backend) && fits(wanted.pool, pool)
    });
    Ok(pools)
}

/// `host@backend#pool` in its three parts.
pub fn parts(name: &str) -> (&str, &str, &str) {
    let (host, rest) = name.split_once('@').unwrap_or((name, ""));
    let (backend, pool) = rest.split_once('#').unwrap_or((rest, ""));
    (host, backend, pool)
}

/// What configured back ends report, and has what the type asks.
async fn reported(app: &App, kind: BackendKind, wanted: Option<&Type>) -> Result<Vec<PoolRow>> {
    let dialect = match kind {
        BackendKind::Block => Dialect::Block,
        BackendKind::Share => Dialect::Share,
    };
    let mut pools = app.store.pools(kind).await?;
    pools.retain(|p| p.present && p.configured && wanted.is_none_or(|t| suits(p, t, dialect)));
    Ok(pools)
}

/// Clients write a regular expression that must fit from the beginning; of those, names and `.*` are understood.
fn like(wanted: &str, found: &str) -> bool {
    let (wanted, whole) = wanted.strip_suffix('$').map_or((wanted, false), |w| (w, true));
    let mut pieces = wanted.strip_prefix('^').unwrap_or(wanted).split(".*");
    let Some(mut rest) = pieces.next().and_then(|first| found.strip_prefix(first)) else { return false };
    let mut open = false;
    for piece in pieces {
        open = true;
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    !whole || rest.is_empty() || (open && wanted.ends_with(".*"))
}

/// Whether the pool has what the type asks.
fn suits(pool: &PoolRow, wanted: &Type, dialect: Dialect) -> bool {
    let capabilities = pool.capabilities();
    let zones = match dialect {
        Dialect::Block => volume_type::ZONES,
        Dialect::Share => share_type::ZONES,
    };
    wanted.specs().filter(|(key, _)| *key != zones).all(|(key, requirement)| {
        let Some(path) = capability_path(key) else { return true };
        let mut found = capabilities.get(path[0]);
        for step in &path[1..] {
            found = found.and_then(|v| v.get(step));
        }
        found.is_some_and(|value| satisfies(value, requirement, dialect))
    })
}

/// The back end (and pool, after `#`) that `host` names.
///
/// # Errors
/// 403, 404.
pub async fn capabilities(app: &App, ctx: &RequestContext, host: &str) -> Result<(BackendRow, Option<PoolRow>)> {
    app.policy.check(ctx, "volume_extension:capabilities", &Target::own(ctx))?;
    let name = backend_of(host);
    let backend = app.store.backend(name).await?.filter(|b| b.kind == BackendKind::Block).ok_or_else(|| not_found(host))?;
    let pools = app.store.pools_of(name).await?;
    let pool = if host.contains('#') {
        Some(pools.into_iter().find(|p| p.name == host).ok_or_else(|| not_found(host))?)
    } else {
        pools.into_iter().next()
    };
    Ok((backend, pool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pools_name_has_three_parts() {
        assert_eq!(parts("h@b#p"), ("h", "b", "p"));
        assert_eq!(parts("h@b"), ("h", "b", ""));
    }

    #[test]
    fn a_filter_fits_from_the_beginning() {
        for (wanted, found, fits) in [
            ("m", "m", true),
            ("m", "m1", true),
            ("m$", "m1", false),
            ("^m1$", "m1", true),
            (".*", "anything", true),
            (".*1", "m1", true),
            ("n", "m", false),
            ("1", "m1", false),
            ("m.*$", "m1", true),
        ] {
            assert_eq!(like(wanted, found), fits, "{wanted} {found}");
        }
    }
}
