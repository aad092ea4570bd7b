//! One back end with the driver that serves it: an *incarnation*, immutable once made.
//!
//! A reload of driver or configuration makes a new one and swaps it in ([`Catalog`](super::Catalog)); who holds the old one
//! ends on it. So a job asks the catalog once, at its beginning, and keeps the `Arc` for as long as one call runs.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    block::{
        ConnectionInfo, VolumeClone, VolumeFromSnapshot, VolumeManage, VolumeReplication, VolumeRetype, VolumeRevert, VolumeSnapshots,
        Volumes,
    },
    call::Call,
    capability::CapabilityReport,
    error::{DriverError, DriverResult},
    gate::Gate,
    share::{
        Access, Allocations, Ensure, Poll, ShareFromSnapshot, ShareManage, ShareRevert, ShareServerManage, ShareServerMigration,
        ShareServers, ShareShrink, ShareSnapshotManage, ShareSnapshots, Shares, SnapshotAccess,
    },
};
use crate::{
    clock::{self, Micros},
    config::BackendConfig,
};

/// What a driver says it is, and which bytes it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverIdentity {
    /// The file's stem in the plugin folder: `memory`.
    pub file: String,
    /// Of the component's bytes, in hex.
    pub sha256: String,
    /// The version of the contract it was built against: `0.1.0`.
    pub interface_version: String,
    pub name: String,
    pub vendor: String,
    pub version: String,
    pub state_version: u32,
    /// The interfaces it exports, by their names in the contract.
    pub exports: Vec<String>,
}

/// Capabilities, which every driver has.
pub trait Capabilities: Send + Sync {
    /// Asks the driver; the answer has passed [`CapabilityReport::check`].
    fn report<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<CapabilityReport>>;
}

/// What the driver exports. `None`: it does not have the interface.
#[derive(Clone)]
pub struct Interfaces {
    pub capabilities: Arc<dyn Capabilities>,
    pub poll: Option<Arc<dyn Poll>>,
    pub volumes: Option<Arc<dyn Volumes>>,
    pub volume_clone: Option<Arc<dyn VolumeClone>>,
    pub volume_from_snapshot: Option<Arc<dyn VolumeFromSnapshot>>,
    pub volume_snapshots: Option<Arc<dyn VolumeSnapshots>>,
    pub volume_revert: Option<Arc<dyn VolumeRevert>>,
    pub volume_retype: Option<Arc<dyn VolumeRetype>>,
    pub volume_manage: Option<Arc<dyn VolumeManage>>,
    pub volume_replication: Option<Arc<dyn VolumeReplication>>,
    pub connection_info: Option<Arc<dyn ConnectionInfo>>,
    pub shares: Option<Arc<dyn Shares>>,
    pub share_shrink: Option<Arc<dyn ShareShrink>>,
    pub share_from_snapshot: Option<Arc<dyn ShareFromSnapshot>>,
    pub share_snapshots: Option<Arc<dyn ShareSnapshots>>,
    pub snapshot_access: Option<Arc<dyn SnapshotAccess>>,
    pub share_revert: Option<Arc<dyn ShareRevert>>,
    pub share_manage: Option<Arc<dyn ShareManage>>,
    pub share_snapshot_manage: Option<Arc<dyn ShareSnapshotManage>>,
    pub access: Option<Arc<dyn Access>>,
    pub ensure: Option<Arc<dyn Ensure>>,
    pub share_servers: Option<Arc<dyn ShareServers>>,
    pub share_server_manage: Option<Arc<dyn ShareServerManage>>,
    pub share_server_migration: Option<Arc<dyn ShareServerMigration>>,
    pub allocations: Option<Arc<dyn Allocations>>,
}

impl Interfaces {
    /// Nothing but capabilities: a start for tests and for the loader.
    pub fn none(capabilities: Arc<dyn Capabilities>) -> Self {
        Self {
            capabilities,
            poll: None,
            volumes: None,
            volume_clone: None,
            volume_from_snapshot: None,
            volume_snapshots: None,
            volume_revert: None,
            volume_retype: None,
            volume_manage: None,
            volume_replication: None,
            connection_info: None,
            shares: None,
            share_shrink: None,
            share_from_snapshot: None,
            share_snapshots: None,
            snapshot_access: None,
            share_revert: None,
            share_manage: None,
            share_snapshot_manage: None,
            access: None,
            ensure: None,
            share_servers: None,
            share_server_manage: None,
            share_server_migration: None,
            allocations: None,
        }
    }
}

/// The last report and when its call began.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedReport {
    pub report: CapabilityReport,
    pub begun_at: Micros,
}

/// One incarnation of a back end.
pub struct Backend {
    /// `stowage@memory1`.
    pub host: String,
    pub config: Arc<BackendConfig>,
    pub driver: DriverIdentity,
    /// Every call of this incarnation passes it.
    pub gate: Arc<Gate>,
    interfaces: Interfaces,
    report: ArcSwapOption<TimedReport>,
}

/// Defines `name()` (an option) and `need_name()` (an error that names the interface).
macro_rules! interface {
    ($($name:ident $need:ident: $t:ident = $wit:literal;)*) => {
        $(
            pub fn $name(&self) -> Option<&Arc<dyn $t>> {
                self.interfaces.$name.as_ref()
            }
            /// # Errors
            /// [`ErrorKind::NotImplemented`](super::ErrorKind::NotImplemented) when the driver does not export it.
            pub fn $need(&self) -> DriverResult<&Arc<dyn $t>> {
                self.interfaces.$name.as_ref().ok_or_else(|| DriverError::not_implemented(&self.host, $wit))
            }
        )*
    };
}

impl Backend {
    pub fn new(host: impl Into<String>, config: Arc<BackendConfig>, driver: DriverIdentity, interfaces: Interfaces) -> Self {
        let host = host.into();
        let gate = Gate::new(host.clone(), config.grants.concurrency);
        Self { host, config, driver, gate, interfaces, report: ArcSwapOption::empty() }
    }

    /// The gate that the interfaces' calls pass, when it was made before them.
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// Which bytes serve it with which configuration; the same in every process that has both.
    pub fn incarnation(&self) -> String {
        let config = serde_json::to_vec(&*self.config).unwrap_or_default();
        hex::encode(Sha256::new().chain_update(&self.driver.sha256).chain_update(config).finalize())
    }

    /// The back end's own name, without the host.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// `stowage@memory1#pool`.
    pub fn pool_host(&self, pool: &str) -> String {
        format!("{}#{pool}", self.host)
    }

    /// Asks the driver what it can do now, and remembers the answer.
    ///
    /// # Errors
    /// The driver's; the report before stays.
    pub async fn refresh(&self, call: &Call) -> DriverResult<Arc<TimedReport>> {
        let begun_at = clock::now();
        let report = self.interfaces.capabilities.report(call).await?;
        let timed = Arc::new(TimedReport { report, begun_at });
        self.report.store(Some(timed.clone()));
        Ok(timed)
    }

    /// The last report. `None` only before the first [`refresh`](Self::refresh); the loader does one.
    pub fn capabilities(&self) -> Option<Arc<TimedReport>> {
        self.report.load_full()
    }

    interface! {
        poll need_poll: Poll = "poll";
        volumes need_volumes: Volumes = "volumes";
        volume_clone need_volume_clone: VolumeClone = "volume-clone";
        volume_from_snapshot need_volume_from_snapshot: VolumeFromSnapshot = "volume-from-snapshot";
        volume_snapshots need_volume_snapshots: VolumeSnapshots = "volume-snapshots";
        volume_revert need_volume_revert: VolumeRevert = "volume-revert";
        volume_retype need_volume_retype: VolumeRetype = "volume-retype";
        volume_manage need_volume_manage: VolumeManage = "volume-manage";
        volume_replication need_volume_replication: VolumeReplication = "volume-replication";
        connection_info need_connection_info: ConnectionInfo = "connection-info";
        shares need_shares: Shares = "shares";
        share_shrink need_share_shrink: ShareShrink = "share-shrink";
        share_from_snapshot need_share_from_snapshot: ShareFromSnapshot = "share-from-snapshot";
        share_snapshots need_share_snapshots: ShareSnapshots = "share-snapshots";
        snapshot_access need_snapshot_access: SnapshotAccess = "snapshot-access";
        share_revert need_share_revert: ShareRevert = "share-revert";
        share_manage need_share_manage: ShareManage = "share-manage";
        share_snapshot_manage need_share_snapshot_manage: ShareSnapshotManage = "share-snapshot-manage";
        access need_access: Access = "access";
        ensure need_ensure: Ensure = "ensure";
        share_servers need_share_servers: ShareServers = "share-servers";
        share_server_manage need_share_server_manage: ShareServerManage = "share-server-manage";
        share_server_migration need_share_server_migration: ShareServerMigration = "share-server-migration";
        allocations need_allocations: Allocations = "allocations";
    }
}
