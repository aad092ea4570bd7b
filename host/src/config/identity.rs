//! `[identity]`

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Secret, duration};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdentityConfig {
    /// `builtin`: users, projects and roles in our database. `keystone`: tokens are validated by a Keystone.
    pub mode: IdentityMode,
    /// Region of every endpoint in the catalog.
    pub region: String,
    /// How long an issued token is valid (built-in).
    #[serde(with = "duration")]
    pub token_ttl: Duration,
    /// Failed log-ins per user and address after which further ones are refused with 429 (built-in). 0: no limit.
    pub max_failed_logins: u32,
    /// The time in which they are counted.
    #[serde(with = "duration")]
    pub failed_login_window: Duration,
    pub argon2: Argon2Config,
    pub keystone: KeystoneConfig,
    /// Services beside ours that the built-in catalog lists.
    #[serde(rename = "service")]
    pub services: Vec<CatalogService>,
}

/// `[[identity.service]]`: a service that clients of this cloud find in the catalog, but which somebody else serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogService {
    /// `network`, `image`, ...
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    /// As the catalog gives it to clients.
    pub url: String,
}

impl CatalogService {
    /// The types that we serve, under both of their names.
    pub const OURS: [&'static str; 5] = ["identity", "block-storage", "volumev3", "shared-file-system", "sharev2"];
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentityMode {
    #[default]
    Builtin,
    Keystone,
}

/// `[identity.argon2]`: the cost of a password check (argon2id).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Argon2Config {
    pub memory_kib: u32,
    pub iterations: u32,
    pub parallelism: u32,
    /// Most checks at once; more wait.
    pub concurrency: usize,
}

/// `[identity.keystone]`, for `mode = "keystone"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeystoneConfig {
    /// `https://keystone.example.org/v3`
    pub url: String,
    /// The service user that validates tokens.
    pub username: String,
    pub password: Secret,
    pub project_name: String,
    pub user_domain_name: String,
    pub project_domain_name: String,
    /// PEM file with the authority that signed Keystone's certificate; empty: the system's.
    pub ca_file: PathBuf,
    /// How long an answer of Keystone is believed; at most 5m.
    #[serde(with = "duration")]
    pub cache_ttl: Duration,
    /// After this long without an answer the request gets 503.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self {
            mode: IdentityMode::Builtin,
            region: "RegionOne".to_owned(),
            token_ttl: Duration::from_secs(4 * 3600),
            max_failed_logins: 10,
            failed_login_window: Duration::from_secs(300),
            argon2: Argon2Config::default(),
            keystone: KeystoneConfig::default(),
            services: Vec::new(),
        }
    }
}

impl Default for Argon2Config {
    fn default() -> Self {
        Self { memory_kib: 19456, iterations: 2, parallelism: 1, concurrency: 4 }
    }
}

impl Default for KeystoneConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            username: String::new(),
            password: Secret::default(),
            project_name: "service".to_owned(),
            user_domain_name: "Default".to_owned(),
            project_domain_name: "Default".to_owned(),
            ca_file: PathBuf::new(),
            cache_ttl: Duration::from_secs(300),
            timeout: Duration::from_secs(10),
        }
    }
}
