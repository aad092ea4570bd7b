//! Setting and resetting limits.

use super::show;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    quota::Usage,
};

/// Sets a project's own limits.
///
/// # Errors
/// 400 for an unknown resource, 403.
pub async fn project(app: &App, ctx: &RequestContext, project_id: &str, limits: &[(String, i64)]) -> Result<Vec<Usage>> {
    app.policy.check(ctx, "volume_extension:quotas:update", &Target::project(project_id))?;
    check(app, limits).await?;
    let mut tx = app.store.begin().await?;
    for (resource, limit) in limits {
        tx.set_quota_limit(project_id, resource, *limit).await?;
    }
    tx.commit().await?;
    show::figures(app, project_id).await
}

/// The defaults hold for the project again.
///
/// # Errors
/// 403.
pub async fn reset(app: &App, ctx: &RequestContext, project_id: &str) -> Result<()> {
    app.policy.check(ctx, "volume_extension:quotas:delete", &Target::project(project_id))?;
    let mut tx = app.store.begin().await?;
    tx.delete_quota_limits(project_id).await?;
    Ok(tx.commit().await?)
}

/// Sets a class's limits.
///
/// # Errors
/// As for [`project`].
pub async fn class(app: &App, ctx: &RequestContext, class: &str, limits: &[(String, i64)]) -> Result<()> {
    app.policy.check(ctx, "volume_extension:quota_classes:update", &Target::own(ctx))?;
    check(app, limits).await?;
    let mut tx = app.store.begin().await?;
    for (resource, limit) in limits {
        tx.set_quota_class_limit(class, resource, *limit).await?;
    }
    Ok(tx.commit().await?)
}

async fn check(app: &App, limits: &[(String, i64)]) -> Result<()> {
    let known = show::names(app).await?;
    match limits.iter().find(|(resource, _)| !known.contains(resource)) {
        Some((resource, _)) => Err(Error::invalid(format!("Bad key in quota set: {resource:.255}"))),
        None => Ok(()),
    }
}
