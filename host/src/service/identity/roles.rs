//! Roles: create, show, list, update, delete; what they imply.

use super::{duplicate, not_found, of, valid_name};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::identity::{ROLES, new_id},
    error::{Error, Result},
    policy::Target,
    store::sql::identity_roles::RoleRow,
};

/// # Errors
/// A name that is taken.
pub async fn create(app: &App, ctx: &RequestContext, name: &str, description: &str) -> Result<RoleRow> {
    valid_name("role", name, 255)?;
    app.policy.check(ctx, "identity:create_role", &Target::default())?;
    // policy compares role names without case: a second "Admin" would be an administrator
    if app.store.roles(None).await?.iter().any(|r| r.name.eq_ignore_ascii_case(name)) {
        return Err(Error::conflict(format!("Conflict occurred attempting to store role - Duplicate entry found with name {name}.")));
    }
    let row = RoleRow { id: new_id(), name: name.to_owned(), description: description.to_owned(), created_at: clock::now() };
    let mut tx = of(app)?.begin().await?;
    tx.insert_role(&row).await.map_err(duplicate("role", name))?;
    tx.commit().await?;
    Ok(row)
}

/// # Errors
/// No such role.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<RoleRow> {
    app.policy.check(ctx, "identity:get_role", &Target::default())?;
    app.store.role(id).await?.ok_or_else(|| not_found("role", id))
}

/// # Errors
/// Policy.
pub async fn list(app: &App, ctx: &RequestContext, name: Option<&str>) -> Result<Vec<RoleRow>> {
    app.policy.check(ctx, "identity:list_roles", &Target::default())?;
    Ok(app.store.roles(name).await?)
}

/// Every role that brings others, with those it brings.
///
/// # Errors
/// Policy.
pub async fn implications(app: &App, ctx: &RequestContext) -> Result<Vec<(RoleRow, Vec<RoleRow>)>> {
    app.policy.check(ctx, "identity:list_implied_roles", &Target::default())?;
    let (roles, pairs) = (app.store.roles(None).await?, app.store.implied_roles().await?);
    let named = |id: &str| roles.iter().find(|r| r.id == id).cloned();
    let brought = |prior: &RoleRow| pairs.iter().filter(|(p, _)| *p == prior.id).filter_map(|(_, i)| named(i)).collect::<Vec<_>>();
    Ok(roles.iter().map(|prior| (prior.clone(), brought(prior))).filter(|(_, brought)| !brought.is_empty()).collect())
}

/// # Errors
/// No such role; one of those that always are cannot be renamed; a name that is taken.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, name: Option<&str>, description: Option<&str>) -> Result<RoleRow> {
    name.map_or(Ok(()), |n| valid_name("role", n, 255))?;
    app.policy.check(ctx, "identity:update_role", &Target::default())?;
    let all = app.store.roles(None).await?;
    let old = all.iter().find(|r| r.id == id).ok_or_else(|| not_found("role", id))?;
    if let Some(name) = name.filter(|n| *n != old.name) {
        if ROLES.contains(&old.name.as_str()) {
            return Err(Error::forbidden(format!("The role {} cannot be renamed: the shipped policy is about it.", old.name)));
        }
        if all.iter().any(|r| r.id != id && r.name.eq_ignore_ascii_case(name)) {
            return Err(Error::conflict(format!("Conflict occurred attempting to store role - Duplicate entry found with name {name}.")));
        }
    }
    let mut tx = of(app)?.begin().await?;
    let row = tx.update_role(id, name, description).await.map_err(duplicate("role", name.unwrap_or("")))?;
    let row = row.ok_or_else(|| not_found("role", id))?;
    tx.commit().await?;
    Ok(row)
}

/// With its assignments.
///
/// # Errors
/// No such role; one of those that always are cannot be deleted.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    app.policy.check(ctx, "identity:delete_role", &Target::default())?;
    let role = app.store.role(id).await?.ok_or_else(|| not_found("role", id))?;
    if ROLES.contains(&role.name.as_str()) {
        return Err(Error::forbidden(format!("The role {} cannot be deleted: the shipped policy is about it.", role.name)));
    }
    let mut tx = of(app)?.begin().await?;
    if !tx.delete_role(id).await? {
        return Err(not_found("role", id));
    }
    tx.commit().await?;
    Ok(())
}
