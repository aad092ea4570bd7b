//! The built-in identity: users, projects, roles and tokens in our own database.
//!
//! Tokens are 256 random bits; only their SHA-256 is stored. What a token stands for is worked out from the tables each time
//! it is read (and cached, see [`cache`]), so a role that is taken away, or a user that is disabled, takes effect at once.
//! Whatever changes these tables does so through [`Identity::begin`], which starts a new cache epoch with the commit.

pub mod bootstrap;
pub mod cache;
pub mod catalog;
pub mod domains;
pub mod grants;
pub mod issue;
pub mod limiter;
pub mod passwords;
pub mod projects;
pub mod roles;
pub mod token;
pub mod tokens;
pub mod users;

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;

use crate::{
    api::auth::TokenSource,
    app::App,
    clock,
    config::IdentityConfig,
    context::Principal,
    domain::identity::{self, Scope},
    error::{Error, Kind, Result},
    store::{Store, StoreError, Tx},
};
use cache::TokenCache;
use catalog::ServiceCatalog;
use limiter::Limiter;
use passwords::Passwords;
use token::TokenInfo;

/// The running built-in identity.
pub struct Identity {
    store: Store,
    passwords: Passwords,
    limiter: Limiter,
    cache: TokenCache,
    token_ttl: Duration,
    pub catalog: ServiceCatalog,
}

impl Identity {
    /// # Errors
    /// Parameters that argon2 does not take.
    pub fn new(store: Store, config: &IdentityConfig, catalog: ServiceCatalog) -> Result<Self> {
        let ttl = if store.is_sqlite() { cache::ALONE_TTL } else { cache::SHARED_TTL };
        Ok(Self {
            passwords: Passwords::new(&config.argon2)?,
            limiter: Limiter::new(config.max_failed_logins, config.failed_login_window),
            cache: TokenCache::new(ttl),
            token_ttl: config.token_ttl,
            store,
            catalog,
        })
    }

    /// A transaction that changes identity: with its commit every cached token is read anew.
    async fn begin(&self) -> Result<Tx> {
        let mut tx = self.store.begin().await?;
        let cache = self.cache.clone();
        tx.after_commit(move || cache.forget_all());
        Ok(tx)
    }

    /// What a token stands for.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] for one that is unknown, expired, revoked, or for something that is gone.
    pub async fn resolve(&self, token: &str) -> Result<Arc<TokenInfo>> {
        let digest = token::digest(token);
        let info = self.cache.get(digest, self.read(digest)).await?;
        if info.expires_at <= clock::now() { Err(unauthenticated()) } else { Ok(info) }
    }

    async fn read(&self, digest: [u8; 32]) -> Result<Arc<TokenInfo>> {
        let row = self.store.token(&hex::encode(digest)).await?.ok_or_else(unauthenticated)?;
        let scope = Scope::from_parts(&row.scope, row.target_id.clone()).ok_or_else(unauthenticated)?;
        let roles = match scope {
            Scope::None => Vec::new(),
            _ => self.store.effective_roles(&row.user_id, &scope).await?,
        };
        TokenInfo::resolve(row, roles).map(Arc::new).ok_or_else(unauthenticated)
    }

    /// Forgets expired tokens, a batch at a time. Returns how many.
    ///
    /// # Errors
    /// The database's.
    pub async fn purge_expired(&self) -> Result<u64> {
        let mut tx = self.store.begin().await?;
        let purged = tx.purge_tokens(clock::now(), 1000).await?;
        tx.commit().await?;
        Ok(purged)
    }
}

impl TokenSource for Identity {
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal>> {
        Box::pin(async move { Ok(self.resolve(token).await?.principal()) })
    }
}

/// The built-in identity of the running service.
///
/// # Errors
/// [`Kind::NotFound`] when tokens are an external Keystone's.
pub fn of(app: &App) -> Result<&Arc<Identity>> {
    app.identity.as_ref().ok_or_else(|| Error::not_found("The built-in identity is not in use here."))
}

/// One sentence for every reason, so that a refusal tells nothing about who exists.
pub fn unauthenticated() -> Error {
    Error::new(Kind::Unauthenticated, "The request you have made requires authentication.")
}

fn not_found(what: &str, id: &str) -> Error {
    Error::not_found(format!("Could not find {what}: {}.", id.chars().take(255).collect::<String>()))
}

fn duplicate(what: &'static str, name: &str) -> impl FnOnce(StoreError) -> Error {
    let message = format!("Conflict occurred attempting to store {what} - Duplicate entry found with name {name}.");
    move |e| match e {
        StoreError::Duplicate { .. } => Error::conflict(message).with_source(e),
        other => other.into(),
    }
}

/// A name as the tables take it.
fn valid_name(what: &str, name: &str, max: usize) -> Result<()> {
    identity::name(name, max).map_err(|why| Error::invalid(format!("Invalid input for field '{what}.name': it {why}.")))?;
    Ok(())
}
