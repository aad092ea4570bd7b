//! Limits and usage of a project, of the defaults, of a class.

use std::collections::HashMap;

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    quota::{
        Usage,
        defaults::{BLOCK, DEFAULT_CLASS},
    },
    service::page::Page,
    store::keyset::ListKey as _,
    store::{
        keyset::Order,
        sql::types::{TypeOf, TypeQuery, TypeSort},
    },
};

/// A project's figures, in the order of the answer.
///
/// # Errors
/// 403 for another project's, unless the caller is an admin.
pub async fn project(app: &App, ctx: &RequestContext, project_id: &str) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "volume_extension:quotas:show", &Target::project(project_id))?;
    figures(app, project_id).await
}

/// The limits of a project that has none of its own.
///
/// # Errors
/// 403.
pub async fn defaults(app: &App, ctx: &RequestContext, project_id: &str) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "volume_extension:quotas:show", &Target::project(project_id))?;
    class_figures(app, DEFAULT_CLASS).await
}

/// The limits of a class.
///
/// # Errors
/// 403.
pub async fn class(app: &App, ctx: &RequestContext, class: &str) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "volume_extension:quota_classes:get", &Target::own(ctx))?;
    class_figures(app, class).await
}

/// Figures of a project without asking whether the caller may see them: the caller has asked.
pub(crate) async fn figures(app: &App, project_id: &str) -> Result<Vec<Usage>> {
    let known: HashMap<String, Usage> = app.store.quota_usage(project_id).await?.into_iter().map(|u| (u.resource.clone(), u)).collect();
    let shown = names(app).await?.into_iter().map(|resource| match known.get(&resource) {
        Some(usage) => usage.clone(),
        None => Usage { limit: app.store.quota_defaults().limit(&resource), used: 0, resource },
    });
    Ok(shown.collect())
}

async fn class_figures(app: &App, class: &str) -> Result<Vec<Usage>> {
    let set: HashMap<String, i64> = app.store.quota_class_limits(class).await?.into_iter().collect();
    let shown = names(app).await?.into_iter().map(|resource| {
        let limit = set.get(&resource).copied().unwrap_or_else(|| app.store.quota_defaults().limit(&resource));
        Usage { resource, limit, used: 0 }
    });
    Ok(shown.collect())
}

/// Everything that is counted: the seven of every project, and three for each public type.
pub(crate) async fn names(app: &App) -> Result<Vec<String>> {
    let mut names: Vec<String> = BLOCK.iter().map(|n| (*n).to_owned()).collect();
    let order = vec![Order { column: TypeSort::Name.column(), descending: false, nullable: false }];
    let page = Page { order, limit: 1000, ..Page::default() };
    let query = TypeQuery { is_public: Some(true), order: page.order, limit: page.limit, ..TypeQuery::default() };
    for t in app.store.resource_types(TypeOf::Volume, &query).await? {
        names.extend(["volumes", "snapshots", "gigabytes"].map(|resource| format!("{resource}_{}", t.row.name)));
    }
    Ok(names)
}
