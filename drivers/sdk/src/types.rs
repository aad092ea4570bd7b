//! The records that drivers and host exchange, as `wit/` documents them, with the constructors a driver wants.
//!
//! Constructors fill what most drivers do not set; every field stays public.

use crate::bindings;

pub use bindings::{
    allocations::{CheckOutcome, ShareRules, UpdateOutcome},
    capabilities::{BlockProtocol, CapabilityReport, Features, Pool, ShareServerMode, SharedTargets},
    connection_info::{
        Chap, Connection, ConnectionTarget, Connector, DisconnectTarget, FcConnection, FcTarget, IscsiConnection, IscsiTarget,
        NfsConnection, NvmeConnection, NvmePortal, NvmeTransport, RbdConnection,
    },
    ensure::{EnsureItem, EnsureOutcome, Ensured, EnsuredUpdate, SnapshotLocations},
    imports::stowage::driver::{config::ConfigValue, log::Level, types::*},
    lifecycle::{DriverInfo, OptionKind, OptionSpec},
    poll::PollOutcome,
    share_manage::Adopted as AdoptedShare,
    share_server_migration::{
        Abilities as MigrationAbilities, CheckOutcome as MigrationCheck, CompleteOutcome, CopyOutcome, Request as MigrationRequest,
        ShareRules as MigrationRules, Source as MigrationSource,
    },
    share_servers::{AddressCounts, ServerOutcome},
    share_snapshot_manage::Adopted as AdoptedShareSnapshot,
    volume_manage::{Adopted, Manageable, ManageablePage},
    volume_replication::{FailedOver, VolumeState},
    volume_retype::{NewType, RetypeOutcome},
};

impl DriverInfo {
    /// A driver whose stored state has had one form so far.
    #[must_use]
    pub fn new(name: &str, vendor: &str, version: &str) -> Self {
        Self { name: name.into(), vendor: vendor.into(), version: version.into(), state_version: 1 }
    }
}

impl CapabilityReport {
    #[must_use]
    pub fn new(features: Features, pools: Vec<Pool>) -> Self {
        Self { features, pools, extra: Vec::new() }
    }
}

impl Default for Features {
    /// The careful answers: nothing is supported, targets may be shared.
    fn default() -> Self {
        Self {
            block_protocols: Vec::new(),
            share_protocols: Vec::new(),
            multiattach: false,
            shared_targets: SharedTargets::Unknown,
            online_extend: false,
            share_server_mode: ShareServerMode::WithoutServers,
            share_server_multiple_subnet_support: false,
            network_allocation_update_support: false,
            ip_versions: Vec::new(),
            ensure_batch: None,
        }
    }
}

impl Features {
    /// Of a driver of volumes.
    #[must_use]
    pub fn block(protocol: BlockProtocol) -> Self {
        Self { block_protocols: vec![protocol], ..Self::default() }
    }
    /// Of a driver of shares on the array's own addresses.
    #[must_use]
    pub fn share(protocol: ShareProtocol) -> Self {
        Self { share_protocols: vec![protocol], ..Self::default() }
    }
}

impl Pool {
    /// A thick pool of unknown size.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            available: true,
            total: Capacity::Unknown,
            free: Capacity::Unknown,
            provisioned_gib: None,
            reserved_percentage: None,
            max_over_subscription_ratio: None,
            thin_provisioning: false,
            thick_provisioning: true,
            multiattach: None,
            online_extend: None,
            filter_function: None,
            goodness_function: None,
            extra: Vec::new(),
        }
    }
    #[must_use]
    pub fn total_gib(self, gib: f64) -> Self {
        Self { total: Capacity::Gib(gib), ..self }
    }
    #[must_use]
    pub fn free_gib(self, gib: f64) -> Self {
        Self { free: Capacity::Gib(gib), ..self }
    }
    /// Thin, with the sum of what was promised.
    #[must_use]
    pub fn thin(self, provisioned_gib: f64) -> Self {
        Self { thin_provisioning: true, thick_provisioning: false, provisioned_gib: Some(provisioned_gib), ..self }
    }
}

impl Property {
    #[must_use]
    pub fn new(key: &str, value: impl Into<Value>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}
impl From<bool> for Value {
    fn from(boolean: bool) -> Self {
        Self::Boolean(boolean)
    }
}
impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl KeyValue {
    #[must_use]
    pub fn new(key: &str, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
    /// The value of `key` in a list, such as a volume's specs.
    #[must_use]
    pub fn find<'l>(list: &'l [Self], key: &str) -> Option<&'l str> {
        list.iter().find(|kv| kv.key == key).map(|kv| kv.value.as_str())
    }
}

impl Pending {
    /// Ask again with `token` after so many milliseconds.
    #[must_use]
    pub fn new(token: impl Into<String>, retry_after_ms: u32) -> Self {
        Self { token: token.into(), retry_after_ms, percent: None }
    }
}

/// Nothing to remember: the driver finds the object by its id.
impl Default for VolumeUpdate {
    fn default() -> Self {
        Self { provider_id: None, provider_data: None }
    }
}
#[expect(clippy::derivable_impls, reason = "the type is made by the binding generator")]
impl Default for SnapshotUpdate {
    fn default() -> Self {
        Self { provider_id: None, provider_data: None }
    }
}

impl VolumeOutcome {
    /// Done, and there is nothing for the host to remember.
    #[must_use]
    pub fn made() -> Self {
        Self::Done(VolumeUpdate::default())
    }
    /// Done; the host remembers the array's id of it.
    #[must_use]
    pub fn made_as(provider_id: impl Into<String>) -> Self {
        Self::Done(VolumeUpdate { provider_id: Some(provider_id.into()), provider_data: None })
    }
}

impl ShareUpdate {
    /// A share that is mounted from these places.
    #[must_use]
    pub fn at(locations: Vec<ExportLocation>) -> Self {
        Self { provider_id: None, provider_data: None, locations, metadata: Vec::new() }
    }
}

impl ExportLocation {
    /// A location for everybody.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), admin_only: false, preferred: false, metadata: Vec::new() }
    }
    #[must_use]
    pub fn preferred(self) -> Self {
        Self { preferred: true, ..self }
    }
    #[must_use]
    pub fn for_admins(self) -> Self {
        Self { admin_only: true, ..self }
    }
}

impl RuleState {
    /// The rule holds.
    #[must_use]
    pub fn active(rule: &AccessRule) -> Self {
        Self { id: rule.id.clone(), outcome: RuleOutcome::Active, key: None }
    }
    /// The rule could not be made to hold.
    #[must_use]
    pub fn failed(rule: &AccessRule, why: Error) -> Self {
        Self { id: rule.id.clone(), outcome: RuleOutcome::Failed(why), key: None }
    }
}

impl Ensured {
    #[must_use]
    pub fn unchanged(id: &str) -> Self {
        Self { id: id.into(), outcome: EnsureOutcome::Unchanged }
    }
    #[must_use]
    pub fn failed(id: &str, why: Error) -> Self {
        Self { id: id.into(), outcome: EnsureOutcome::Failed(why) }
    }
    #[must_use]
    pub fn updated(id: &str, update: EnsuredUpdate) -> Self {
        Self { id: id.into(), outcome: EnsureOutcome::Updated(update) }
    }
}

/// Nothing changed: set what did.
impl Default for EnsuredUpdate {
    fn default() -> Self {
        Self {
            locations: None,
            snapshots: Vec::new(),
            broken_because: None,
            reapply_access_rules: false,
            metadata: None,
            provider_id: None,
            provider_data: None,
            pool: None,
        }
    }
}

impl MovedShare {
    /// A share that is mounted from these places now; the driver finds it by its id.
    #[must_use]
    pub fn at(id: &str, pool: &str, locations: Vec<ExportLocation>) -> Self {
        Self { id: id.into(), pool: pool.into(), locations, provider_id: None, provider_data: None }
    }
}

impl MovedSnapshot {
    #[must_use]
    pub fn new(id: &str, locations: Vec<ExportLocation>) -> Self {
        Self { id: id.into(), locations, provider_id: None, provider_data: None }
    }
}

impl Connection {
    #[must_use]
    pub fn new(target: ConnectionTarget) -> Self {
        Self { target, extra: Vec::new() }
    }
}
