//! The records of the contract as the host uses them. `wit/stowage-driver/*/types.wit` documents each field; the names are
//! the same. What is stored in the database derives serde.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

/// Small string maps: metadata, extra specs. Sorted, so that equal maps read equal.
pub type StringMap = BTreeMap<String, String>;

/// What a driver wants back with each share server.
pub type ServerDetails = StringMap;

/// What a verb that may take long answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    Done(T),
    Pending(Pending),
}

/// Work that goes on in the array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// For [`Poll::poll`](super::share::Poll::poll), in any process.
    pub token: String,
    pub retry_after: Duration,
    pub percent: Option<u8>,
}

/// A value extra specs can be compared with, or an opaque connection property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Boolean(bool),
    Number(f64),
    Text(String),
    Texts(Vec<String>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AccessMode {
    #[default]
    #[serde(rename = "rw")]
    ReadWrite,
    #[serde(rename = "ro")]
    ReadOnly,
}

impl AccessMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadWrite => "rw",
            Self::ReadOnly => "ro",
        }
    }
}

// ---- block

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub id: String,
    pub name: String,
    pub project_id: String,
    /// The pool's own name, without host and back end.
    pub pool: String,
    pub size_gib: u64,
    pub multiattach: bool,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub specs: StringMap,
    pub qos: StringMap,
    pub metadata: StringMap,
}

/// What to store with an object. None: leave as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeUpdate {
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeSnapshot {
    pub id: String,
    pub name: String,
    pub project_id: String,
    pub volume_id: String,
    pub size_gib: u64,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub metadata: StringMap,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotUpdate {
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
}

/// The type a volume shall get in place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewType {
    pub specs: StringMap,
    pub qos: StringMap,
    pub multiattach: bool,
    pub pool: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetypeOutcome {
    Done(VolumeUpdate),
    NeedsMigration,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manageable {
    pub reference: StringMap,
    pub size_gib: u64,
    pub unsafe_because: Option<String>,
    pub managed_as: Option<String>,
    pub extra_info: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManageablePage {
    pub items: Vec<Manageable>,
    pub next: Option<String>,
}

/// An object taken over: its size and what to store with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted<U> {
    pub size_gib: u64,
    pub update: U,
}

/// Who wants a volume. Parsed from the API's `connector`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Connector {
    pub host: String,
    pub ip: Option<String>,
    pub initiator: Option<String>,
    pub wwpns: Vec<String>,
    pub wwnns: Vec<String>,
    pub nqn: Option<String>,
    pub nvme_host_id: Option<String>,
    pub system_uuid: Option<String>,
    pub multipath: bool,
    pub os_type: Option<String>,
    pub platform: Option<String>,
    pub mountpoint: Option<String>,
    /// Every other member, as text.
    pub extra: StringMap,
}

/// CHAP credentials. Not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chap {
    pub user: String,
    pub password: String,
}

impl std::fmt::Debug for Chap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chap").field("user", &self.user).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IscsiTarget {
    pub portal: String,
    pub iqn: String,
    pub lun: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IscsiConnection {
    /// At least one; the first is the preferred one.
    pub targets: Vec<IscsiTarget>,
    pub auth: Option<Chap>,
    pub discovery_auth: Option<Chap>,
    pub discard: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FcTarget {
    pub wwn: String,
    pub lun: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FcConnection {
    pub targets: Vec<FcTarget>,
    pub initiator_target_map: BTreeMap<String, Vec<String>>,
    pub discard: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NvmeTransport {
    Tcp,
    Rdma,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmePortal {
    pub address: String,
    pub port: u16,
    pub transport: NvmeTransport,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmeConnection {
    pub nqn: String,
    pub portals: Vec<NvmePortal>,
    pub volume_uuid: Option<String>,
    pub volume_nguid: Option<String>,
    pub namespace_id: Option<u32>,
    pub discard: bool,
}

/// A Ceph connection. The keyring is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RbdConnection {
    pub name: String,
    pub hosts: Vec<String>,
    pub ports: Vec<String>,
    pub cluster_name: String,
    pub auth_enabled: bool,
    pub auth_username: Option<String>,
    pub secret_uuid: Option<String>,
    pub keyring: Option<String>,
    pub discard: bool,
}

impl std::fmt::Debug for RbdConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RbdConnection").field("name", &self.name).field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NfsConnection {
    pub share: String,
    pub name: String,
    pub options: Option<String>,
    pub format: String,
}

/// How a host reaches a volume, by protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "protocol", rename_all = "snake_case")]
pub enum ConnectionTarget {
    Iscsi(IscsiConnection),
    FibreChannel(FcConnection),
    NvmeOf(NvmeConnection),
    Rbd(RbdConnection),
    Nfs(NfsConnection),
    /// A connector type of the consumer's own; all it needs stands in [`Connection::extra`].
    Other {
        driver_volume_type: String,
    },
}

/// What `connect` answered; rendered as `connection_info`. Holds secrets: never logged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    pub target: ConnectionTarget,
    /// Passed on to the consumer beside what the target says.
    pub extra: BTreeMap<String, Value>,
}

/// Which connections to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one lives for one call; a box would cost more than it saves")]
pub enum DisconnectTarget {
    Connector(Connector),
    All,
}

// ---- share

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareProtocol {
    Nfs,
    Cifs,
    Cephfs,
    Glusterfs,
    Hdfs,
    Maprfs,
    Other(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportLocation {
    pub path: String,
    pub admin_only: bool,
    pub preferred: bool,
    pub metadata: StringMap,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareServer {
    pub id: String,
    pub details: ServerDetails,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub id: String,
    pub name: String,
    pub project_id: String,
    pub pool: String,
    pub protocol: ShareProtocol,
    pub size_gib: u64,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub locations: Vec<ExportLocation>,
    pub server: Option<ShareServer>,
    pub specs: StringMap,
    pub metadata: StringMap,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareUpdate {
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub locations: Vec<ExportLocation>,
    pub metadata: StringMap,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareSnapshot {
    pub id: String,
    pub name: String,
    pub project_id: String,
    pub share_id: String,
    pub size_gib: u64,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub locations: Vec<ExportLocation>,
    pub server: Option<ShareServer>,
    pub metadata: StringMap,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareSnapshotUpdate {
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub locations: Vec<ExportLocation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    Ip,
    User,
    Cert,
    Cephx,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRule {
    pub id: String,
    pub kind: AccessKind,
    pub to: String,
    pub level: AccessMode,
    pub key: Option<String>,
}

/// The rules of a share and how they differ from what was applied before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessChange {
    /// All rules that shall hold.
    pub rules: Vec<AccessRule>,
    pub added: Vec<AccessRule>,
    pub removed: Vec<AccessRule>,
    pub changed: Vec<AccessRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleState {
    pub id: String,
    /// `Err` puts the rule to error.
    pub outcome: Result<(), super::DriverError>,
    pub key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnsureItem {
    pub share: Share,
    pub snapshots: Vec<ShareSnapshot>,
}

/// What ensuring changed. None: as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnsuredUpdate {
    pub locations: Option<Vec<ExportLocation>>,
    /// Snapshot id to locations.
    pub snapshots: BTreeMap<String, Vec<ExportLocation>>,
    /// The share goes to `error`.
    pub broken_because: Option<super::DriverError>,
    pub reapply_access_rules: bool,
    pub metadata: Option<StringMap>,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub pool: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnsureOutcome {
    Updated(Box<EnsuredUpdate>),
    Unchanged,
    Failed(super::DriverError),
}

/// How many addresses a share server needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressCounts {
    pub per_subnet: u32,
    pub admin: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IpVersion {
    #[serde(rename = "4")]
    V4,
    #[serde(rename = "6")]
    V6,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    pub id: String,
    pub availability_zone: Option<String>,
    pub network_type: Option<String>,
    pub segmentation_id: Option<u32>,
    pub cidr: String,
    pub gateway: Option<String>,
    pub mtu: Option<u32>,
    pub ip_version: IpVersion,
    pub neutron_net_id: Option<String>,
    pub neutron_subnet_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    pub id: String,
    pub ip_address: String,
    pub mac_address: Option<String>,
    pub label: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecurityServiceKind {
    Ldap,
    Kerberos,
    ActiveDirectory,
}

/// The password is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityService {
    pub id: String,
    pub kind: SecurityServiceKind,
    pub name: String,
    pub dns_ip: Option<String>,
    pub server: Option<String>,
    pub domain: Option<String>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub ou: Option<String>,
    pub default_ad_site: Option<String>,
}

impl std::fmt::Debug for SecurityService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecurityService").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkInfo {
    pub subnet: Subnet,
    pub allocations: Vec<Allocation>,
    pub admin_allocations: Vec<Allocation>,
    pub security_services: Vec<SecurityService>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareChange {
    pub id: String,
    pub locations: Vec<ExportLocation>,
    pub pool: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotChange {
    pub id: String,
    pub provider_data: Option<String>,
    pub locations: Vec<ExportLocation>,
}

/// What more subnets for a share server changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkUpdate {
    pub shares: Vec<ShareChange>,
    pub snapshots: Vec<SnapshotChange>,
    pub details: ServerDetails,
}

/// A share server and all that lives on it: what the `allocations` verbs are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSituation {
    pub server: ShareServer,
    pub current: Vec<NetworkInfo>,
    pub shares: Vec<Share>,
    pub snapshots: Vec<ShareSnapshot>,
    /// Share id to its rules.
    pub rules: BTreeMap<String, Vec<AccessRule>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkCheck {
    Ok,
    /// The driver's reason, for the operator.
    Refused(String),
}

/// What is asked of a migration of a share server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigrationRequest {
    pub writable: bool,
    pub preserve_snapshots: bool,
}

/// What a migration of one server to one back end could do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigrationAbilities {
    pub writable: bool,
    pub preserve_snapshots: bool,
    pub cancel: bool,
    pub progress: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MigrationCheck {
    Compatible(MigrationAbilities),
    /// The driver's reason, for the operator.
    Refused(String),
}

/// A share server that moves, where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationSource {
    /// `host@backend`
    pub host: String,
    pub situation: ServerSituation,
}

/// The server that the host has built where another one moves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationTarget {
    pub server: ShareServer,
    pub networks: Vec<NetworkInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedShare {
    pub id: String,
    pub pool: String,
    pub locations: Vec<ExportLocation>,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedSnapshot {
    pub id: String,
    pub locations: Vec<ExportLocation>,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
}

/// A share server that has moved, with all that is on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerMoved {
    pub shares: Vec<MovedShare>,
    pub snapshots: Vec<MovedSnapshot>,
    pub details: ServerDetails,
}

/// What a poll found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PollOutcome {
    Pending(Pending),
    Volume(VolumeUpdate),
    Share(ShareUpdate),
    Resized,
    Server(ServerDetails),
    Network(NetworkUpdate),
    /// Of a migration's start.
    Copied,
    /// Of a migration's end.
    Moved(ServerMoved),
}
