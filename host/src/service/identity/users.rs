//! Users: create, show, list, update, change the own password, delete.

use super::{duplicate, not_found, of, unauthenticated, valid_name};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::identity::new_id,
    error::{Error, Result},
    policy::Target,
    store::sql::identity_users::{UserFilter, UserPatch, UserRow},
};

/// The longest password taken, in bytes.
const PASSWORD_MAX: usize = 4096;

/// A user to be made.
#[derive(Default)]
pub struct NewUser {
    pub name: String,
    /// The caller's own, if none is named.
    pub domain_id: Option<String>,
    pub description: String,
    pub email: Option<String>,
    pub enabled: bool,
    pub default_project_id: Option<String>,
    /// None: a user who cannot log in.
    pub password: Option<String>,
}

/// What an update asks for.
#[derive(Default)]
pub struct UserChange {
    pub patch: UserPatch,
    pub password: Option<String>,
}

fn owned(user_id: &str) -> Target<'_> {
    Target { user_id, ..Target::default() }
}

fn valid_password(password: &str) -> Result<()> {
    match password.len() {
        0 => Err(Error::invalid("The password must not be empty.")),
        n if n > PASSWORD_MAX => Err(Error::invalid(format!("The password must not be longer than {PASSWORD_MAX} bytes."))),
        _ => Ok(()),
    }
}

/// # Errors
/// A name that is taken in the domain; no such domain; a password that cannot be one.
pub async fn create(app: &App, ctx: &RequestContext, new: NewUser) -> Result<UserRow> {
    valid_name("user", &new.name, 255)?;
    new.password.as_deref().map_or(Ok(()), valid_password)?;
    app.policy.check(ctx, "identity:create_user", &Target::default())?;
    let identity = of(app)?;
    let domain_id = new.domain_id.unwrap_or_else(|| ctx.principal.user_domain_id.clone());
    if app.store.domain(&domain_id).await?.is_none() {
        return Err(not_found("domain", &domain_id));
    }
    let password_hash = match new.password {
        Some(password) => Some(identity.passwords.hash(password).await?),
        None => None,
    };
    let row = UserRow {
        id: new_id(),
        domain_id,
        name: new.name,
        description: new.description,
        email: new.email,
        enabled: new.enabled,
        default_project_id: new.default_project_id,
        password_hash,
        created_at: clock::now(),
    };
    let mut tx = identity.begin().await?;
    tx.insert_user(&row).await.map_err(duplicate("user", &row.name))?;
    tx.commit().await?;
    Ok(row)
}

/// # Errors
/// No such user.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<UserRow> {
    app.policy.check(ctx, "identity:get_user", &owned(id))?;
    app.store.user(id).await?.ok_or_else(|| not_found("user", id))
}

/// # Errors
/// Policy.
pub async fn list(app: &App, ctx: &RequestContext, filter: &UserFilter<'_>) -> Result<Vec<UserRow>> {
    app.policy.check(ctx, "identity:list_users", &Target::default())?;
    Ok(app.store.users(filter).await?)
}

/// A user who is disabled, or gets another password, loses all tokens.
///
/// # Errors
/// No such user; a name that is taken.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, mut change: UserChange) -> Result<UserRow> {
    if let Some(name) = &change.patch.name {
        valid_name("user", name, 255)?;
    }
    change.password.as_deref().map_or(Ok(()), valid_password)?;
    app.policy.check(ctx, "identity:update_user", &owned(id))?;
    let identity = of(app)?;
    if let Some(password) = change.password {
        change.patch.password_hash = Some(identity.passwords.hash(password).await?);
    }
    let patch = &change.patch;
    let mut tx = identity.begin().await?;
    let row = tx.update_user(id, patch).await.map_err(duplicate("user", patch.name.as_deref().unwrap_or("")))?;
    let row = row.ok_or_else(|| not_found("user", id))?;
    if patch.enabled == Some(false) || patch.password_hash.is_some() {
        tx.revoke_tokens_of_user(id).await?;
    }
    tx.commit().await?;
    Ok(row)
}

/// The caller's own password: the old one has to be known.
///
/// # Errors
/// The old password is wrong, or was changed meanwhile.
pub async fn change_password(
    app: &App,
    ctx: &RequestContext,
    id: &str,
    old: String,
    new: String,
    peer: Option<std::net::IpAddr>,
) -> Result<()> {
    valid_password(&new)?;
    app.policy.check(ctx, "identity:change_password", &owned(id))?;
    let identity = of(app)?;
    let attempt = identity.limiter.begin(id, peer).await?;
    let stored = app.store.user(id).await?.and_then(|u| u.password_hash);
    if !identity.passwords.verify(old, stored.clone()).await? {
        attempt.failed();
        return Err(unauthenticated());
    }
    attempt.succeeded();
    let hash = identity.passwords.hash(new).await?;
    let mut tx = identity.begin().await?;
    if !tx.replace_password(id, stored.as_deref().unwrap_or_default(), &hash).await? {
        return Err(unauthenticated());
    }
    tx.revoke_tokens_of_user(id).await?;
    tx.commit().await?;
    Ok(())
}

/// With role assignments and tokens.
///
/// # Errors
/// No such user.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    app.policy.check(ctx, "identity:delete_user", &owned(id))?;
    let mut tx = of(app)?.begin().await?;
    if !tx.delete_user(id).await? {
        return Err(not_found("user", id));
    }
    tx.commit().await?;
    Ok(())
}
