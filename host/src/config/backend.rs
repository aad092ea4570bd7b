//! `[[backend]]`: one storage back end, and what its driver may do.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Secret, duration};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackendConfig {
    /// The part after `@` in `host@backend#pool`. Volumes name it: do not change it while they exist.
    pub name: String,
    /// The driver's file in the plugin folder, without `.wasm`.
    pub driver: String,
    /// `block` or `share`.
    pub kind: BackendKind,
    /// A disabled back end finishes what runs and gets nothing new.
    pub enabled: bool,
    /// Empty: `block.default_availability_zone`.
    pub availability_zone: String,
    /// What clients see as `backend_name`, and what os-brick locks by. Back ends in front of one array may share it. Empty: a UUID of our own.
    pub backend_id: String,
    /// Back ends over one physical pool name a common group, so that its capacity is not counted twice.
    pub capacity_group: String,
    /// Which requests its pools take, in the formula language of `docs/scheduler.md`; counts before the driver's own. Empty: the driver's.
    pub filter_function: String,
    /// How good its pools are for a request, 0 to 100. Empty: the driver's.
    pub goodness_function: String,
    /// Most shares on one of its share servers; -1: any number. A share beyond gets another server.
    pub max_shares_per_share_server: i64,
    /// Most GiB of shares and their snapshots on one of its share servers; -1: any size.
    pub max_share_server_size: i64,
    pub grants: Grants,
    /// By the name under which the driver asks for them. Each from a file or an environment variable.
    pub secrets: BTreeMap<String, Secret>,
    /// The driver's own settings; `stowage driver check` lists them. Checked before the driver sees them.
    pub options: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    #[default]
    Block,
    Share,
}

/// What the operator permits; a driver gets what its manifest asks **and** this allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// `host:port` or `host` (port 443) the driver may call. Loopback and link-local addresses only if written as such.
    pub http: Vec<String>,
    /// Where this service may connect for data when a volume is copied, beside the hosts in `http`: `host:port`, `host`, or a
    /// network such as `192.0.2.0/24`.
    pub portals: Vec<String>,
    /// Memory of one driver instance.
    pub memory_mib: u32,
    /// Longest time one call may take.
    #[serde(with = "duration")]
    pub call_timeout: Duration,
    /// Most calls at once.
    pub concurrency: usize,
    /// Most durable key-value data.
    pub kv_mib: u32,
    /// The driver may read its secrets' text, for protocols where the host cannot write them into the request for it.
    pub reveal_secrets: bool,
    /// A PEM bundle of the certificate authorities the array's certificate may come from. Empty: the system's.
    pub ca_file: PathBuf,
}

/// No limit.
pub const UNLIMITED: i64 = -1;

impl Default for BackendConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            driver: String::new(),
            kind: BackendKind::Block,
            enabled: true,
            availability_zone: String::new(),
            backend_id: String::new(),
            capacity_group: String::new(),
            filter_function: String::new(),
            goodness_function: String::new(),
            max_shares_per_share_server: UNLIMITED,
            max_share_server_size: UNLIMITED,
            grants: Grants::default(),
            secrets: BTreeMap::new(),
            options: serde_json::Map::new(),
        }
    }
}

impl BackendConfig {
    pub fn new(name: impl Into<String>, driver: impl Into<String>) -> Self {
        Self { name: name.into(), driver: driver.into(), ..Self::default() }
    }

    /// A back end of shares.
    pub fn of_shares(name: impl Into<String>, driver: impl Into<String>) -> Self {
        Self { kind: BackendKind::Share, ..Self::new(name, driver) }
    }
}

impl Default for Grants {
    fn default() -> Self {
        Self {
            http: Vec::new(),
            portals: Vec::new(),
            memory_mib: 64,
            call_timeout: Duration::from_secs(60),
            concurrency: 16,
            kv_mib: 64,
            reveal_secrets: false,
            ca_file: PathBuf::new(),
        }
    }
}
