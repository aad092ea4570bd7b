//! The first start: roles, the default domain, the projects `admin` and `service`, and one administrator with a random
//! password that stands in a clouds.yaml only its owner may read. There is no default password.
//!
//! One transaction; the new file is written before it commits, beside the old one, and takes its place afterwards: a password
//! that did not come into force replaces none that works, and one that did stands in one of the two whatever happens.
//! Two processes that start at once on one database: the second waits at the default domain's row and then finds it done.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::{issue::random, passwords::Passwords};
use crate::{
    clock,
    config::IdentityConfig,
    domain::identity::{DEFAULT_DOMAIN, IMPLIED, ROLES, Scope, new_id},
    error::Error,
    store::{
        Store, StoreError, Tx,
        sql::{
            identity_domains::DomainRow,
            identity_projects::ProjectRow,
            identity_roles::RoleRow,
            identity_users::{UserPatch, UserRow},
        },
    },
};

/// The administrator of the first start.
pub const ADMIN: &str = "admin";

/// What the first start, or a later one, found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bootstrapped {
    /// Identity was there already.
    Before,
    /// It was made just now; how to log in stands in this file.
    Now { clouds_yaml: PathBuf },
}

#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Identity(#[from] Error),
    #[error("cannot write {}: {source}; make its folder writable, or choose another", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("there is no user 'admin' in the default domain any more: another user with the role admin has to make one over the API")]
    NoAdmin,
}

/// Makes what is missing at the first start.
///
/// # Errors
/// [`BootstrapError`]; nothing was made then.
pub async fn bootstrap(
    store: &Store,
    config: &IdentityConfig,
    identity_url: &str,
    clouds_yaml: &Path,
) -> Result<Bootstrapped, BootstrapError> {
    if store.domain(DEFAULT_DOMAIN).await?.is_some() {
        return Ok(Bootstrapped::Before);
    }
    let password = random(24)?;
    let hash = Passwords::new(&config.argon2)?.hash(password.clone()).await?;
    let mut tx = store.begin().await?;
    match fill(&mut tx, hash).await {
        Err(StoreError::Duplicate { .. }) => return Ok(Bootstrapped::Before),
        other => other?,
    }
    let next = write_private(clouds_yaml, &clouds(identity_url, &config.region, &password))?;
    tx.commit().await?;
    put(&next, clouds_yaml)?;
    Ok(Bootstrapped::Now { clouds_yaml: clouds_yaml.to_owned() })
}

/// Gives the administrator a new random password, written to `clouds_yaml`: for an operator who lost it.
///
/// # Errors
/// [`BootstrapError`]; the old password stays then.
pub async fn reset_admin(store: &Store, config: &IdentityConfig, identity_url: &str, clouds_yaml: &Path) -> Result<(), BootstrapError> {
    let admin = store.user_by_name(DEFAULT_DOMAIN, ADMIN).await?.ok_or(BootstrapError::NoAdmin)?;
    let password = random(24)?;
    let hash = Passwords::new(&config.argon2)?.hash(password.clone()).await?;
    let mut tx = store.begin().await?;
    let patch = UserPatch { password_hash: Some(hash), enabled: Some(true), ..UserPatch::default() };
    tx.update_user(&admin.id, &patch).await?;
    tx.revoke_tokens_of_user(&admin.id).await?;
    let next = write_private(clouds_yaml, &clouds(identity_url, &config.region, &password))?;
    tx.commit().await?;
    put(&next, clouds_yaml)?;
    Ok(())
}

async fn fill(tx: &mut Tx, password_hash: String) -> Result<(), StoreError> {
    let now = clock::now();
    let domain = DomainRow {
        id: DEFAULT_DOMAIN.into(),
        name: "Default".into(),
        description: "The default domain".into(),
        enabled: true,
        created_at: now,
    };
    tx.insert_domain(&domain).await?;
    let mut role_ids = std::collections::HashMap::new();
    for name in ROLES {
        let role = RoleRow { id: new_id(), name: name.into(), description: String::new(), created_at: now };
        tx.insert_role(&role).await?;
        role_ids.insert(name, role.id);
    }
    for (prior, implied) in IMPLIED {
        tx.insert_implied_role(&role_ids[prior], &role_ids[implied]).await?;
    }
    let project = |name: &str, description: &str| ProjectRow {
        id: new_id(),
        domain_id: DEFAULT_DOMAIN.into(),
        parent_id: None,
        name: name.into(),
        description: description.into(),
        enabled: true,
        created_at: now,
    };
    let admin_project = project(ADMIN, "The administrator's project");
    tx.insert_project(&admin_project).await?;
    tx.insert_project(&project("service", "Users of other services")).await?;
    let user = UserRow {
        id: new_id(),
        domain_id: DEFAULT_DOMAIN.into(),
        name: ADMIN.into(),
        description: "Made at the first start".into(),
        email: None,
        enabled: true,
        default_project_id: Some(admin_project.id.clone()),
        password_hash: Some(password_hash),
        created_at: now,
    };
    tx.insert_user(&user).await?;
    for scope in [Scope::Project(admin_project.id), Scope::Domain(DEFAULT_DOMAIN.into()), Scope::System] {
        tx.assign_role(&user.id, &scope, &role_ids[ADMIN]).await?;
    }
    Ok(())
}

fn clouds(identity_url: &str, region: &str, password: &str) -> String {
    format!(
        "# How to log in to Stowage as its administrator. Keep it secret.\n\
         # Use it with: export OS_CLIENT_CONFIG_FILE=<this file> OS_CLOUD=stowage\n\
         clouds:\n  stowage:\n    auth:\n      auth_url: {}/v3\n      username: {ADMIN}\n      password: \"{password}\"\n      project_name: {ADMIN}\n      \
         user_domain_name: Default\n      project_domain_name: Default\n    region_name: {region}\n    interface: public\n    identity_api_version: 3\n",
        identity_url.trim_end_matches('/')
    )
}

/// Writes what is to take the file's place, and says where; nobody but its owner can read it at any moment.
fn write_private(path: &Path, text: &str) -> Result<PathBuf, BootstrapError> {
    let next = path.with_extension("yaml.new");
    let failed = |source| BootstrapError::File { path: next.clone(), source };
    match fs::remove_file(&next) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(next)
}

/// Replaces the file as a whole.
fn put(next: &Path, path: &Path) -> Result<(), BootstrapError> {
    fs::rename(next, path).map_err(|source| BootstrapError::File { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_stays_until_its_successor_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clouds.yaml");
        let read = || fs::read_to_string(&path).ok();
        // one that a crash left is in nobody's way
        write_private(&path, "lost").unwrap();
        let first = write_private(&path, "first").unwrap();
        assert_eq!(read(), None);
        put(&first, &path).unwrap();
        let second = write_private(&path, "second").unwrap();
        assert_eq!(read().as_deref(), Some("first"), "its password may not come into force");
        put(&second, &path).unwrap();
        assert_eq!((read().as_deref(), second.exists()), (Some("second"), false));
    }
}
