//! Who has which role where.

use super::{not_found, of};
use crate::{
    app::App,
    context::RequestContext,
    domain::identity::Scope,
    error::{Error, Result},
    policy::Target,
    store::{
        StoreError,
        sql::identity_roles::{AssignmentFilter, AssignmentRow, RoleRow},
    },
};

/// One role of one user for one scope.
#[derive(Debug, Clone)]
pub struct Grant {
    pub user_id: String,
    pub scope: Scope,
    pub role_id: String,
}

/// Nothing happens when the user has the role already.
///
/// # Errors
/// No such user, role, project or domain.
pub async fn create(app: &App, ctx: &RequestContext, grant: &Grant) -> Result<()> {
    app.policy.check(ctx, "identity:create_grant", &Target::default())?;
    let identity = of(app)?;
    all_exist(app, grant).await?;
    let mut tx = identity.begin().await?;
    let done = tx.assign_role(&grant.user_id, &grant.scope, &grant.role_id).await;
    done.map_err(|e| match e {
        StoreError::Missing { .. } => Error::not_found("Could not find user or role: it was deleted just now.").with_source(e),
        other => other.into(),
    })?;
    tx.commit().await?;
    Ok(())
}

/// # Errors
/// The user does not have the role there.
pub async fn check(app: &App, ctx: &RequestContext, grant: &Grant) -> Result<()> {
    app.policy.check(ctx, "identity:check_grant", &Target::default())?;
    all_exist(app, grant).await?;
    let assigned = app.store.assigned_roles(&grant.user_id, &grant.scope).await?;
    if assigned.iter().any(|r| r.id == grant.role_id) { Ok(()) } else { Err(no_such_grant(grant)) }
}

/// The roles assigned to a user for exactly this scope.
///
/// # Errors
/// No such user, project or domain.
pub async fn list(app: &App, ctx: &RequestContext, user_id: &str, scope: &Scope) -> Result<Vec<RoleRow>> {
    app.policy.check(ctx, "identity:list_grants", &Target::default())?;
    scope_exists(app, scope).await?;
    user_exists(app, user_id).await?;
    Ok(app.store.assigned_roles(user_id, scope).await?)
}

/// # Errors
/// The user does not have the role there.
pub async fn revoke(app: &App, ctx: &RequestContext, grant: &Grant) -> Result<()> {
    app.policy.check(ctx, "identity:revoke_grant", &Target::default())?;
    let mut tx = of(app)?.begin().await?;
    if !tx.unassign_role(&grant.user_id, &grant.scope, &grant.role_id).await? {
        return Err(no_such_grant(grant));
    }
    tx.commit().await?;
    Ok(())
}

/// Assignments, narrowed by `filter`; an ordinary user may see the own ones.
///
/// # Errors
/// Policy.
pub async fn assignments(app: &App, ctx: &RequestContext, filter: &AssignmentFilter<'_>) -> Result<Vec<AssignmentRow>> {
    let target = Target { user_id: filter.user_id.unwrap_or(""), ..Target::default() };
    app.policy.check(ctx, "identity:list_role_assignments", &target)?;
    Ok(app.store.assignments(filter).await?)
}

async fn all_exist(app: &App, grant: &Grant) -> Result<()> {
    scope_exists(app, &grant.scope).await?;
    user_exists(app, &grant.user_id).await?;
    if app.store.role(&grant.role_id).await?.is_none() {
        return Err(not_found("role", &grant.role_id));
    }
    Ok(())
}

async fn user_exists(app: &App, id: &str) -> Result<()> {
    app.store.user(id).await?.map(|_| ()).ok_or_else(|| not_found("user", id))
}

async fn scope_exists(app: &App, scope: &Scope) -> Result<()> {
    match scope {
        Scope::Project(id) => app.store.project(id).await?.map(|_| ()).ok_or_else(|| not_found("project", id)),
        Scope::Domain(id) => app.store.domain(id).await?.map(|_| ()).ok_or_else(|| not_found("domain", id)),
        Scope::System | Scope::None => Ok(()),
    }
}

fn no_such_grant(grant: &Grant) -> Error {
    let (kind, target) = grant.scope.parts();
    Error::not_found(format!("Could not find role assignment with role: {}, user: {}, {kind}: {target}.", grant.role_id, grant.user_id))
}
