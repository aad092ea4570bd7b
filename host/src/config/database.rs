//! `[database]`

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::duration;
use crate::store::{Durability, StoreOptions};

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DatabaseConfig {
    /// `sqlite:/path/stowage.db` or `postgres://user@host/name`. Empty: SQLite in the state folder.
    #[serde(serialize_with = "without_password")]
    pub url: String,
    /// What a committed transaction survives on SQLite: `full` (a power cut) or `process` (a crash of the process; faster).
    pub durability: Durability,
    /// Most connections: readers on SQLite, all on PostgreSQL.
    pub max_connections: u32,
    /// How long a request waits for a connection or a lock before it gets 503.
    #[serde(with = "duration")]
    pub acquire_timeout: Duration,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        Self { url: String::new(), durability: Durability::Full, max_connections: 16, acquire_timeout: Duration::from_secs(10) }
    }
}

impl DatabaseConfig {
    /// Options for the store; `url` is the effective one (`Config::database_url`).
    pub fn store_options(&self, url: String) -> StoreOptions {
        StoreOptions { url, durability: self.durability, max_connections: self.max_connections, acquire_timeout: self.acquire_timeout }
    }
}

/// A PostgreSQL URL may carry a password: it is shown as `***`.
pub fn redacted(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) if parsed.password().is_some() => {
            let _ = parsed.set_password(Some("***"));
            parsed.to_string()
        }
        _ => url.to_owned(),
    }
}

#[expect(clippy::ptr_arg, reason = "serde's signature")]
fn without_password<S: serde::Serializer>(url: &String, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&redacted(url))
}

impl std::fmt::Debug for DatabaseConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseConfig")
            .field("url", &redacted(&self.url))
            .field("durability", &self.durability)
            .field("max_connections", &self.max_connections)
            .field("acquire_timeout", &self.acquire_timeout)
            .finish()
    }
}
