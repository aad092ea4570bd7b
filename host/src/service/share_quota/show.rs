//! Limits, and what is used of them.

use std::collections::HashMap;

use super::{NOT_OF_TYPES, Scope, Whose};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    quota::{
        QuotaScope, Usage,
        defaults::{DEFAULT_CLASS, SHARE, SHARE_PREFIX, share_resource},
    },
    store::StoreResult,
};

/// The figures, under the names clients know, in the order of the answer.
///
/// # Errors
/// 400 for a user and a type at once, 403 for another project's unless the caller is an admin, 404 for an unknown type.
pub async fn set(app: &App, ctx: &RequestContext, whose: &Whose) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "quota_set:show", &Target::project(&whose.project_id))?;
    let scope = Scope::find(app, ctx, whose).await?;
    of_scope(app, &scope).await
}

/// The limits of a project that has none of its own.
///
/// # Errors
/// 403.
pub async fn defaults(app: &App, ctx: &RequestContext, project_id: &str) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "quota_set:show", &Target::project(project_id))?;
    of_class(app, DEFAULT_CLASS).await
}

/// The limits of a class.
///
/// # Errors
/// 403.
pub async fn class(app: &App, ctx: &RequestContext, class: &str) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "quota_class_set:show", &Target::own(ctx))?;
    of_class(app, class).await
}

/// The caller's project's figures, which are no secret to anybody with a token for it.
///
/// # Errors
/// The store's.
pub async fn own(app: &App, ctx: &RequestContext) -> Result<Vec<Usage>> {
    let scope = Scope { project_id: ctx.project_id().to_owned(), user_id: String::new(), type_id: String::new() };
    of_scope(app, &scope).await
}

/// As [`set`], for a caller who has been let in.
pub(super) async fn of_scope(app: &App, scope: &Scope) -> Result<Vec<Usage>> {
    let used = by_name(app.store.quota_used_within(scope.exact()).await?);
    let own = by_name(app.store.quota_limits_within(scope.exact()).await?);
    let further = if scope.is_of_project() { Vec::new() } else { app.store.quota_limits_within(scope.of_project()).await? };
    let (of_project, class) = (by_name(further), by_name(app.store.quota_class_limits(DEFAULT_CLASS).await?));
    let shown = SHARE.iter().filter(|name| !(scope.is_of_type() && NOT_OF_TYPES.contains(name)));
    Ok(shown
        .map(|name| Usage {
            resource: (*name).to_owned(),
            limit: own
                .get(*name)
                .or_else(|| of_project.get(*name))
                .or_else(|| class.get(*name))
                .copied()
                .unwrap_or_else(|| configured(app, name)),
            used: used.get(*name).copied().unwrap_or(0),
        })
        .collect())
}

async fn of_class(app: &App, class: &str) -> Result<Vec<Usage>> {
    let set = by_name(app.store.quota_class_limits(class).await?);
    let limit = |name: &str| set.get(name).copied().unwrap_or_else(|| configured(app, name));
    Ok(SHARE.iter().map(|name| Usage { resource: (*name).to_owned(), limit: limit(name), used: 0 }).collect())
}

fn configured(app: &App, name: &str) -> i64 {
    app.store.quota_defaults().limit(&share_resource(name))
}

/// The share API's rows, under the names clients know.
pub(super) fn by_name(rows: Vec<(String, i64)>) -> HashMap<String, i64> {
    rows.into_iter().filter_map(|(resource, n)| Some((resource.strip_prefix(SHARE_PREFIX)?.to_owned(), n))).collect()
}

/// The smallest limit that holds for one of a thing: the project's, and those of the user and the type in it if they have any.
///
/// # Errors
/// The store's.
pub async fn smallest(app: &App, of: QuotaScope<'_>, name: &str) -> StoreResult<i64> {
    let resource = share_resource(name);
    let mut limits = vec![app.store.quota_limit(of.project_id, &resource).await?];
    for scope in [QuotaScope { type_id: "", ..of }, QuotaScope { user_id: "", ..of }] {
        limits.extend(app.store.quota_limits_within(scope).await?.into_iter().filter(|(r, _)| *r == resource).map(|(_, n)| n));
    }
    Ok(limits.into_iter().filter(|n| *n >= 0).min().unwrap_or(crate::quota::UNLIMITED))
}
