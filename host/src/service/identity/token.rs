//! What a token stands for.

use sha2::{Digest, Sha256};

use crate::{
    clock::Micros,
    context::Principal,
    domain::identity::Scope,
    store::sql::{identity_roles::RoleRow, identity_tokens::TokenRow},
};

/// A valid token, resolved: names, roles, times. Never the token itself.
#[derive(Debug, Clone)]
pub struct TokenInfo {
    pub user_id: String,
    pub user_name: String,
    pub user_domain: Named,
    pub scope: Scope,
    /// The name of the project or domain in scope.
    pub target_name: String,
    /// The domain of the project in scope.
    pub target_domain: Named,
    /// Implied roles included.
    pub roles: Vec<Named>,
    pub methods: Vec<String>,
    /// Own audit id, then that of the token it came from.
    pub audit_ids: Vec<String>,
    pub issued_at: Micros,
    pub expires_at: Micros,
}

/// An id and its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Named {
    pub id: String,
    pub name: String,
}

impl TokenInfo {
    /// None when what the token is for is gone or disabled, or its owner has no role there any more.
    pub fn resolve(row: TokenRow, roles: Vec<RoleRow>) -> Option<Self> {
        let scope = Scope::from_parts(&row.scope, row.target_id)?;
        let alive = row.user_enabled && row.target_enabled && (scope == Scope::None || !roles.is_empty());
        alive.then(|| Self {
            user_id: row.user_id,
            user_name: row.user_name,
            user_domain: Named { id: row.user_domain_id, name: row.user_domain_name },
            scope,
            target_name: row.target_name.unwrap_or_default(),
            target_domain: Named { id: row.target_domain_id.unwrap_or_default(), name: row.target_domain_name.unwrap_or_default() },
            roles: roles.into_iter().map(|r| Named { id: r.id, name: r.name }).collect(),
            methods: list(&row.methods),
            audit_ids: list(&row.audit_ids),
            issued_at: row.issued_at,
            expires_at: row.expires_at,
        })
    }

    pub fn principal(&self) -> Principal {
        let (mut project_id, mut project_name, mut domain_id) = (String::new(), String::new(), String::new());
        match &self.scope {
            Scope::Project(id) => (project_id, project_name) = (id.clone(), self.target_name.clone()),
            Scope::Domain(id) => domain_id.clone_from(id),
            Scope::System | Scope::None => {}
        }
        Principal {
            user_id: self.user_id.clone(),
            user_name: self.user_name.clone(),
            user_domain_id: self.user_domain.id.clone(),
            project_id,
            project_name,
            project_domain_id: self.target_domain.id.clone(),
            domain_id,
            system_scope: self.scope == Scope::System,
            roles: self.roles.iter().map(|r| r.name.to_lowercase()).collect(),
        }
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

/// What the store keeps in the token's place.
pub fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
