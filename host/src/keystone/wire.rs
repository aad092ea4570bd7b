//! What goes to Keystone and comes back.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{clock::Micros, config::KeystoneConfig, context::Principal};

#[derive(Deserialize)]
pub(super) struct Answer {
    pub token: Token,
}

#[derive(Deserialize)]
pub(super) struct Token {
    expires_at: String,
    user: Owned,
    project: Option<Owned>,
    domain: Option<Named>,
    system: Option<System>,
    #[serde(default)]
    roles: Vec<Named>,
}

#[derive(Deserialize, Serialize, Default)]
struct Named {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Owned {
    id: String,
    name: String,
    domain: Named,
}

#[derive(Deserialize)]
struct System {
    all: Option<bool>,
}

impl Token {
    pub fn expires_at(&self) -> Option<Micros> {
        super::micros(&self.expires_at)
    }
    pub fn principal(self) -> Principal {
        let project = self.project.unwrap_or_else(|| Owned { id: String::new(), name: String::new(), domain: Named::default() });
        Principal {
            user_id: self.user.id,
            user_name: self.user.name,
            user_domain_id: self.user.domain.id,
            project_id: project.id,
            project_name: project.name,
            project_domain_id: project.domain.id,
            domain_id: self.domain.unwrap_or_default().id,
            system_scope: self.system.is_some_and(|s| s.all == Some(true)),
            roles: self.roles.into_iter().map(|r| r.name.to_lowercase()).collect(),
        }
    }
}

/// The log-in of our own user.
pub(super) fn login(config: &KeystoneConfig) -> Value {
    json!({"auth": {
        "identity": {"methods": ["password"], "password": {"user": {
            "name": config.username, "password": config.password.expose(), "domain": {"name": config.user_domain_name},
        }}},
        "scope": {"project": {"name": config.project_name, "domain": {"name": config.project_domain_name}}},
    }})
}
