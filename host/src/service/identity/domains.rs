//! Domains: create, show, list, update, delete.

use super::{duplicate, not_found, of, valid_name};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::identity::{DEFAULT_DOMAIN, new_id},
    error::{Error, Result},
    policy::Target,
    store::sql::identity_domains::{DomainPatch, DomainRow},
};

fn check(app: &App, ctx: &RequestContext, action: &str, domain_id: &str) -> Result<()> {
    app.policy.check(ctx, action, &Target { attributes: &[("domain_id", domain_id)], ..Target::default() })
}

/// # Errors
/// A name that is taken or no name.
pub async fn create(app: &App, ctx: &RequestContext, name: &str, description: &str, enabled: bool) -> Result<DomainRow> {
    valid_name("domain", name, 64)?;
    check(app, ctx, "identity:create_domain", "")?;
    let row = DomainRow { id: new_id(), name: name.to_owned(), description: description.to_owned(), enabled, created_at: clock::now() };
    let mut tx = of(app)?.begin().await?;
    tx.insert_domain(&row).await.map_err(duplicate("domain", name))?;
    tx.commit().await?;
    Ok(row)
}

/// # Errors
/// No such domain.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<DomainRow> {
    check(app, ctx, "identity:get_domain", id)?;
    app.store.domain(id).await?.ok_or_else(|| not_found("domain", id))
}

/// # Errors
/// Policy.
pub async fn list(app: &App, ctx: &RequestContext, name: Option<&str>, enabled: Option<bool>) -> Result<Vec<DomainRow>> {
    check(app, ctx, "identity:list_domains", "")?;
    Ok(app.store.domains(name, enabled).await?)
}

/// A domain that is disabled loses its tokens.
///
/// # Errors
/// No such domain; a name that is taken; the default domain cannot be disabled.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, patch: &DomainPatch) -> Result<DomainRow> {
    if let Some(name) = &patch.name {
        valid_name("domain", name, 64)?;
    }
    check(app, ctx, "identity:update_domain", id)?;
    if id == DEFAULT_DOMAIN && patch.enabled == Some(false) {
        return Err(Error::forbidden("The default domain cannot be disabled: nobody could log in again."));
    }
    let mut tx = of(app)?.begin().await?;
    let row = tx.update_domain(id, patch).await.map_err(duplicate("domain", patch.name.as_deref().unwrap_or("")))?;
    let row = row.ok_or_else(|| not_found("domain", id))?;
    if patch.enabled == Some(false) {
        tx.revoke_tokens_of_domain(id).await?;
    }
    tx.commit().await?;
    Ok(row)
}

/// With its users and projects. Only a disabled one.
///
/// # Errors
/// No such domain; it is enabled.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    check(app, ctx, "identity:delete_domain", id)?;
    let mut tx = of(app)?.begin().await?;
    if tx.delete_domain(id).await? {
        return Ok(tx.commit().await?);
    }
    tx.rollback().await?;
    match app.store.domain(id).await? {
        None => Err(not_found("domain", id)),
        Some(_) => Err(Error::forbidden("Cannot delete a domain that is enabled, please disable it first.")),
    }
}
