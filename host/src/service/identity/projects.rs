//! Projects: create, show, list, update, delete.

use super::{duplicate, not_found, of, valid_name};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::identity::new_id,
    error::{Error, Result},
    policy::Target,
    store::sql::identity_projects::{ProjectFilter, ProjectPatch, ProjectRow},
};

/// A project to be made.
#[derive(Debug, Clone, Default)]
pub struct NewProject {
    pub name: String,
    /// The parent's, or the caller's own, if none is named.
    pub domain_id: Option<String>,
    pub parent_id: Option<String>,
    pub description: String,
    pub enabled: bool,
}

/// # Errors
/// A name that is taken in the domain; no such domain or parent.
pub async fn create(app: &App, ctx: &RequestContext, new: NewProject) -> Result<ProjectRow> {
    valid_name("project", &new.name, 64)?;
    app.policy.check(ctx, "identity:create_project", &Target::default())?;
    let parent = match new.parent_id.as_deref() {
        // the domain itself may be named as parent
        Some(parent) if Some(parent) != new.domain_id.as_deref() => match app.store.project(parent).await? {
            Some(parent) => Some(parent),
            None if app.store.domain(parent).await?.is_some() => None,
            None => return Err(not_found("project", parent)),
        },
        _ => None,
    };
    let domain_id =
        new.domain_id.or_else(|| parent.as_ref().map(|p| p.domain_id.clone())).unwrap_or_else(|| ctx.principal.user_domain_id.clone());
    if parent.as_ref().is_some_and(|p| p.domain_id != domain_id) {
        return Err(Error::invalid("The parent project is in another domain."));
    }
    if app.store.domain(&domain_id).await?.is_none() {
        return Err(not_found("domain", &domain_id));
    }
    let row = ProjectRow {
        id: new_id(),
        domain_id,
        parent_id: parent.map(|p| p.id),
        name: new.name,
        description: new.description,
        enabled: new.enabled,
        created_at: clock::now(),
    };
    let mut tx = of(app)?.begin().await?;
    tx.insert_project(&row).await.map_err(duplicate("project", &row.name))?;
    tx.commit().await?;
    Ok(row)
}

/// # Errors
/// No such project.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<ProjectRow> {
    app.policy.check(ctx, "identity:get_project", &Target::project(id))?;
    app.store.project(id).await?.ok_or_else(|| not_found("project", id))
}

/// # Errors
/// Policy.
pub async fn list(app: &App, ctx: &RequestContext, filter: &ProjectFilter<'_>) -> Result<Vec<ProjectRow>> {
    app.policy.check(ctx, "identity:list_projects", &Target::default())?;
    Ok(app.store.projects(filter).await?)
}

/// The projects that a user has a role on.
///
/// # Errors
/// Policy; no such user.
pub async fn of_user(app: &App, ctx: &RequestContext, user_id: &str) -> Result<Vec<ProjectRow>> {
    app.policy.check(ctx, "identity:list_user_projects", &Target { user_id, ..Target::default() })?;
    if app.store.user(user_id).await?.is_none() {
        return Err(not_found("user", user_id));
    }
    Ok(app.store.projects(&ProjectFilter { user_id: Some(user_id), ..ProjectFilter::default() }).await?)
}

/// The projects that the caller may ask a token for.
///
/// # Errors
/// The database's.
pub async fn available(app: &App, ctx: &RequestContext) -> Result<Vec<ProjectRow>> {
    app.policy.check(ctx, "identity:get_auth_projects", &Target::default())?;
    let filter = ProjectFilter { user_id: Some(&ctx.principal.user_id), enabled: Some(true), ..ProjectFilter::default() };
    Ok(app.store.projects(&filter).await?)
}

/// A project that is disabled loses its tokens.
///
/// # Errors
/// No such project; a name that is taken.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, patch: &ProjectPatch) -> Result<ProjectRow> {
    if let Some(name) = &patch.name {
        valid_name("project", name, 64)?;
    }
    app.policy.check(ctx, "identity:update_project", &Target::project(id))?;
    let mut tx = of(app)?.begin().await?;
    let row = tx.update_project(id, patch).await.map_err(duplicate("project", patch.name.as_deref().unwrap_or("")))?;
    let row = row.ok_or_else(|| not_found("project", id))?;
    if patch.enabled == Some(false) {
        tx.revoke_tokens_of_project(id).await?;
    }
    tx.commit().await?;
    Ok(row)
}

/// With its role assignments and tokens. What it owns in block and share storage stays, as upstream.
///
/// # Errors
/// No such project; it has children.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    app.policy.check(ctx, "identity:delete_project", &Target::project(id))?;
    let mut tx = of(app)?.begin().await?;
    if tx.delete_project(id).await? {
        return Ok(tx.commit().await?);
    }
    tx.rollback().await?;
    match app.store.project(id).await? {
        None => Err(not_found("project", id)),
        Some(_) => Err(Error::forbidden("Cannot delete a project that has child projects; delete them first.")),
    }
}
