//! Issuing a token: who are you, and what for?

use std::net::IpAddr;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::{TryRngCore, rngs::OsRng};
use std::sync::Arc;

use super::{Identity, token, token::TokenInfo, unauthenticated};
use crate::{
    clock::{self, Micros},
    domain::identity::Scope,
    error::{Error, Result},
    store::sql::{identity_tokens::NewToken, identity_users::UserRow},
};

/// A domain as a client names it.
#[derive(Debug, Clone)]
pub enum DomainRef {
    Id(String),
    Name(String),
}

/// A user or project as a client names it.
#[derive(Debug, Clone)]
pub enum Ref {
    Id(String),
    Name(String, DomainRef),
}

/// How somebody proves who they are.
pub enum Proof {
    Password { user: Ref, password: String },
    Token(String),
}

/// What the token shall be for.
#[derive(Debug, Clone)]
pub enum Wanted {
    Project(Ref),
    Domain(DomainRef),
    System,
    Unscoped,
    /// The user's default project if they have a role there, else nothing.
    Whatever,
}

/// A new token.
pub struct Issued {
    pub token: String,
    pub info: Arc<TokenInfo>,
}

/// Somebody whose proof was right.
struct Proven {
    user: UserRow,
    methods: String,
    /// A token that came from another does not outlive it.
    expires_at: Micros,
    parent: Option<String>,
}

impl Identity {
    /// Checks the proof and issues a token.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`](crate::error::Kind::Unauthenticated) with one sentence for every reason;
    /// [`Kind::TooManyRequests`](crate::error::Kind::TooManyRequests).
    pub async fn issue(&self, proof: Proof, wanted: Wanted, peer: Option<IpAddr>) -> Result<Issued> {
        let proven = match proof {
            Proof::Password { user, password } => self.by_password(user, password, peer).await?,
            Proof::Token(token) => self.by_token(&token).await?,
        };
        let scope = self.scope(&proven.user, wanted).await?;
        if scope != Scope::None && self.store.effective_roles(&proven.user.id, &scope).await?.is_empty() {
            return Err(unauthenticated());
        }
        let token = random(32)?;
        let digest = token::digest(&token);
        let (kind, target) = scope.parts();
        let audit = random(16)?;
        let row = NewToken {
            hash: hex::encode(digest),
            user_id: proven.user.id,
            scope: kind,
            target_id: target.to_owned(),
            methods: proven.methods,
            audit_ids: proven.parent.map_or(audit.clone(), |parent| format!("{audit},{parent}")),
            issued_at: clock::now(),
            expires_at: proven.expires_at,
        };
        // nothing that is cached changes: no new epoch
        let mut tx = self.store.begin().await?;
        tx.insert_token(&row).await?;
        tx.commit().await?;
        let info = self.cache.get(digest, self.read(digest)).await?;
        Ok(Issued { token, info })
    }

    async fn by_password(&self, wanted: Ref, password: String, peer: Option<IpAddr>) -> Result<Proven> {
        // tries of one user count together, by whatever name they come; those of nobody by what was written
        let written = match &wanted {
            Ref::Id(id) => id.clone(),
            Ref::Name(name, DomainRef::Id(domain) | DomainRef::Name(domain)) => format!("{domain}/{name}").to_lowercase(),
        };
        let user = self.find_user(wanted).await?;
        let attempt = self.limiter.begin(user.as_ref().map_or(&written, |u| &u.id), peer).await?;
        let right = self.passwords.verify(password, user.as_ref().and_then(|u| u.password_hash.clone())).await?;
        let user = match user.filter(|_| right) {
            Some(user) if user.enabled && self.domain_is_enabled(&user.domain_id).await? => user,
            _ => {
                attempt.failed();
                return Err(unauthenticated());
            }
        };
        attempt.succeeded();
        Ok(Proven { user, methods: "password".into(), expires_at: clock::now() + clock::micros(self.token_ttl), parent: None })
    }

    async fn by_token(&self, token: &str) -> Result<Proven> {
        let info = self.resolve(token).await?;
        let user = self.store.user(&info.user_id).await?.ok_or_else(unauthenticated)?;
        let mut methods = vec!["token".to_owned()];
        methods.extend(info.methods.iter().filter(|m| *m != "token").cloned());
        Ok(Proven { user, methods: methods.join(","), expires_at: info.expires_at, parent: info.audit_ids.last().cloned() })
    }

    async fn find_user(&self, wanted: Ref) -> Result<Option<UserRow>> {
        Ok(match wanted {
            Ref::Id(id) => self.store.user(&id).await?,
            Ref::Name(name, domain) => match self.domain_id(domain).await? {
                Some(domain) => self.store.user_by_name(&domain, &name).await?,
                None => None,
            },
        })
    }

    async fn domain_is_enabled(&self, id: &str) -> Result<bool> {
        Ok(self.store.domain(id).await?.is_some_and(|d| d.enabled))
    }

    async fn domain_id(&self, domain: DomainRef) -> Result<Option<String>> {
        Ok(match domain {
            DomainRef::Id(id) => Some(id),
            DomainRef::Name(name) => self.store.domain_by_name(&name).await?.map(|d| d.id),
        })
    }

    async fn scope(&self, user: &UserRow, wanted: Wanted) -> Result<Scope> {
        match wanted {
            Wanted::Unscoped => Ok(Scope::None),
            Wanted::System => Ok(Scope::System),
            Wanted::Domain(domain) => {
                let id = self.domain_id(domain).await?.ok_or_else(unauthenticated)?;
                let domain = self.store.domain(&id).await?.filter(|d| d.enabled).ok_or_else(unauthenticated)?;
                Ok(Scope::Domain(domain.id))
            }
            Wanted::Project(project) => self.project_scope(project).await?.ok_or_else(unauthenticated),
            Wanted::Whatever => {
                let Some(id) = &user.default_project_id else { return Ok(Scope::None) };
                let Some(scope) = self.project_scope(Ref::Id(id.clone())).await? else { return Ok(Scope::None) };
                let has_role = !self.store.effective_roles(&user.id, &scope).await?.is_empty();
                Ok(if has_role { scope } else { Scope::None })
            }
        }
    }

    async fn project_scope(&self, wanted: Ref) -> Result<Option<Scope>> {
        let project = match wanted {
            Ref::Id(id) => self.store.project(&id).await?,
            Ref::Name(name, domain) => match self.domain_id(domain).await? {
                Some(domain) => self.store.project_by_name(&domain, &name).await?,
                None => None,
            },
        };
        let Some(project) = project.filter(|p| p.enabled) else { return Ok(None) };
        Ok(self.domain_is_enabled(&project.domain_id).await?.then_some(Scope::Project(project.id)))
    }
}

/// `bytes` random bytes from the operating system, as URL-safe text.
pub(super) fn random(bytes: usize) -> Result<String> {
    let mut raw = vec![0; bytes];
    OsRng.try_fill_bytes(&mut raw).map_err(Error::internal)?;
    Ok(URL_SAFE_NO_PAD.encode(raw))
}
