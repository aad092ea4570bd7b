//! What an operator can set. One typed section a file; `examples/stowage.toml` documents every field and is held to these
//! types by a test.
//!
//! Invariants: a key that no type names is refused, with file, line and a remedy; a secret never stands in a `Debug` output,
//! a log or an answer; nothing outside this folder reads a configuration file. A reload that fails leaves the running
//! configuration untouched ([`reload`]).

mod backend;
mod block;
mod copy;
mod database;
mod drivers;
pub mod duration;
mod error;
pub mod filters;
mod identity;
mod jobs;
mod listen;
pub mod load;
mod log;
mod network;
mod notify;
mod policy;
mod quota;
pub mod reload;
mod scheduler;
mod secret;
mod share;
mod validate;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use backend::{BackendConfig, BackendKind, Grants, UNLIMITED};
pub use block::BlockConfig;
pub use copy::CopyConfig;
pub use database::{DatabaseConfig, redacted as database_shown};
pub use drivers::DriversConfig;
pub use error::{ConfigError, Finding};
pub use identity::{Argon2Config, CatalogService, IdentityConfig, IdentityMode, KeystoneConfig};
pub use jobs::JobsConfig;
pub use listen::{Bind, ListenConfig, PublicUrlConfig};
pub use log::{LogConfig, LogFormat};
pub use network::{AddressRange, NetworkConfig, SubnetConfig};
pub use notify::{NotifyConfig, WebhookConfig};
pub use policy::PolicyConfig;
pub use quota::{QuotaConfig, ShareQuotaConfig};
pub use reload::{Live, Reload};
pub use scheduler::SchedulerConfig;
pub use secret::Secret;
pub use share::ShareConfig;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The OpenStack host name of this *cluster*, the part before `@` in `host@backend#pool`. Every process of one database has the same.
    pub host: String,
    /// Where SQLite, the plugin folder, the compile cache and clouds.yaml live unless they are set apart.
    /// Empty: `$XDG_STATE_HOME/stowage`, or `~/.local/state/stowage`.
    pub state_dir: PathBuf,
    pub listen: ListenConfig,
    pub public_url: PublicUrlConfig,
    pub database: DatabaseConfig,
    pub identity: IdentityConfig,
    pub policy: PolicyConfig,
    pub jobs: JobsConfig,
    pub scheduler: SchedulerConfig,
    pub quota: QuotaConfig,
    pub block: BlockConfig,
    pub share: ShareConfig,
    pub network: NetworkConfig,
    pub copy: CopyConfig,
    pub drivers: DriversConfig,
    pub notify: NotifyConfig,
    pub log: LogConfig,
    /// The back ends, `[[backend]]` each.
    #[serde(rename = "backend")]
    pub backends: Vec<BackendConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: "stowage".to_owned(),
            state_dir: PathBuf::new(),
            listen: ListenConfig::default(),
            public_url: PublicUrlConfig::default(),
            database: DatabaseConfig::default(),
            identity: IdentityConfig::default(),
            policy: PolicyConfig::default(),
            jobs: JobsConfig::default(),
            scheduler: SchedulerConfig::default(),
            quota: QuotaConfig::default(),
            block: BlockConfig::default(),
            share: ShareConfig::default(),
            network: NetworkConfig::default(),
            copy: CopyConfig::default(),
            drivers: DriversConfig::default(),
            notify: NotifyConfig::default(),
            log: LogConfig::default(),
            backends: Vec::new(),
        }
    }
}

impl Config {
    /// `host@backend`, as the service list and `os-vol-host-attr:host` name a back end.
    pub fn backend_host(&self, backend: &str) -> String {
        format!("{}@{backend}", self.host)
    }
    /// The SQLite file or the PostgreSQL URL.
    pub fn database_url(&self) -> String {
        if self.database.url.is_empty() {
            format!("sqlite:{}", self.state_dir.join("stowage.db").display())
        } else {
            self.database.url.clone()
        }
    }
    /// The plugin folder.
    pub fn driver_folder(&self) -> PathBuf {
        if self.drivers.folder.as_os_str().is_empty() { self.state_dir.join("drivers") } else { self.drivers.folder.clone() }
    }
    /// Where compiled drivers are kept by hash.
    pub fn driver_cache(&self) -> PathBuf {
        if self.drivers.cache.as_os_str().is_empty() { self.state_dir.join("cache") } else { self.drivers.cache.clone() }
    }
    /// Where a copy keeps its secrets while it runs.
    pub fn copy_folder(&self) -> PathBuf {
        self.state_dir.join("copy")
    }
    /// Where the first start writes the admin's credentials.
    pub fn clouds_yaml(&self) -> PathBuf {
        self.state_dir.join("clouds.yaml")
    }
}

#[cfg(test)]
mod tests;
