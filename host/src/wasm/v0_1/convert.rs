//! Between the contract's 0.1 records and the host's types, field by field.
//!
//! Nothing is judged here: what an answer must look like is in `driver/answer.rs`, the same for every version.

use std::{collections::BTreeMap, time::Duration};

use super::bindings::{
    guest::{
        allocations, capabilities, connection_info, ensure, poll, share_manage, share_server_migration as migration, share_servers,
        share_snapshot_manage, volume_manage, volume_retype,
    },
    types as w,
};
use crate::driver::{
    DriverError, ErrorKind, capability as c,
    types::{self as t, Answer, StringMap, Value},
};

/// From the host's type to the guest's.
pub trait ToWit {
    type Wit;
    fn wit(&self) -> Self::Wit;
}

/// From the guest's type to the host's.
pub trait FromWit<W> {
    fn from_wit(wit: W) -> Self;
}

/// `wit.into_host()`, where the target type is known.
pub trait IntoHost<T> {
    fn host(self) -> T;
}
impl<T: FromWit<W>, W> IntoHost<T> for W {
    fn host(self) -> T {
        T::from_wit(self)
    }
}

macro_rules! same {
    ($($t:ty),*) => {$(
        impl ToWit for $t {
            type Wit = $t;
            fn wit(&self) -> $t {
                self.clone()
            }
        }
        impl FromWit<$t> for $t {
            fn from_wit(wit: $t) -> $t {
                wit
            }
        }
    )*};
}
same!(String, bool, u8, u16, u32, u64, f64);

impl<T: ToWit> ToWit for Option<T> {
    type Wit = Option<T::Wit>;
    fn wit(&self) -> Self::Wit {
        self.as_ref().map(ToWit::wit)
    }
}
impl<T: FromWit<W>, W> FromWit<Option<W>> for Option<T> {
    fn from_wit(wit: Option<W>) -> Self {
        wit.map(T::from_wit)
    }
}
impl<T: ToWit> ToWit for [T] {
    type Wit = Vec<T::Wit>;
    fn wit(&self) -> Self::Wit {
        self.iter().map(ToWit::wit).collect()
    }
}
impl<T: ToWit> ToWit for Vec<T> {
    type Wit = Vec<T::Wit>;
    fn wit(&self) -> Self::Wit {
        self.as_slice().wit()
    }
}
impl<T: FromWit<W>, W> FromWit<Vec<W>> for Vec<T> {
    fn from_wit(wit: Vec<W>) -> Self {
        wit.into_iter().map(T::from_wit).collect()
    }
}
impl ToWit for StringMap {
    type Wit = Vec<w::KeyValue>;
    fn wit(&self) -> Self::Wit {
        self.iter().map(|(k, v)| w::KeyValue { key: k.clone(), value: v.clone() }).collect()
    }
}
/// Of a key that repeats the last one counts.
impl FromWit<Vec<w::KeyValue>> for StringMap {
    fn from_wit(wit: Vec<w::KeyValue>) -> Self {
        wit.into_iter().map(|p| (p.key, p.value)).collect()
    }
}
impl FromWit<Vec<w::Property>> for BTreeMap<String, Value> {
    fn from_wit(wit: Vec<w::Property>) -> Self {
        wit.into_iter().map(|p| (p.key, p.value.host())).collect()
    }
}
impl FromWit<w::Value> for Value {
    fn from_wit(wit: w::Value) -> Self {
        match wit {
            w::Value::Text(v) => Self::Text(v),
            w::Value::Number(v) => Self::Number(v),
            w::Value::Boolean(v) => Self::Boolean(v),
            w::Value::Texts(v) => Self::Texts(v),
        }
    }
}

macro_rules! to_wit {
    ($($t:path => $w:path { $($f:ident),* $(,)? })*) => {$(
        impl ToWit for $t {
            type Wit = $w;
            fn wit(&self) -> $w {
                $w { $($f: self.$f.wit()),* }
            }
        }
    )*};
}
macro_rules! from_wit {
    ($($t:path => $w:path { $($f:ident),* $(,)? })*) => {$(
        impl FromWit<$w> for $t {
            fn from_wit(wit: $w) -> Self {
                Self { $($f: wit.$f.host()),* }
            }
        }
    )*};
}
macro_rules! units {
    ($($t:path => $w:path { $($v:ident),* $(,)? })*) => {$(
        impl ToWit for $t {
            type Wit = $w;
            fn wit(&self) -> $w {
                match self { $(Self::$v => <$w>::$v),* }
            }
        }
        impl FromWit<$w> for $t {
            fn from_wit(wit: $w) -> Self {
                match wit { $(<$w>::$v => Self::$v),* }
            }
        }
    )*};
}

units! {
    t::AccessMode => w::AccessMode { ReadWrite, ReadOnly }
    t::AccessKind => w::AccessKind { Ip, User, Cert, Cephx }
    t::IpVersion => w::IpVersion { V4, V6 }
    t::SecurityServiceKind => w::SecurityServiceKind { Ldap, Kerberos, ActiveDirectory }
    c::SharedTargets => capabilities::SharedTargets { Yes, No, Unknown }
    c::ShareServerMode => capabilities::ShareServerMode { WithoutServers, WithServers, Either }
    t::NvmeTransport => connection_info::NvmeTransport { Tcp, Rdma }
}

to_wit! {
    t::Volume => w::Volume { id, name, project_id, pool, size_gib, multiattach, provider_id, provider_data, specs, qos, metadata }
    t::VolumeSnapshot => w::VolumeSnapshot { id, name, project_id, volume_id, size_gib, provider_id, provider_data, metadata }
    t::NewType => volume_retype::NewType { specs, qos, multiattach, pool }
    t::Connector => connection_info::Connector { host, ip, initiator, wwpns, wwnns, nqn, nvme_host_id, system_uuid, multipath, os_type, platform, mountpoint, extra }
    t::ExportLocation => w::ExportLocation { path, admin_only, preferred, metadata }
    t::ShareServer => w::ShareServer { id, details }
    t::Share => w::Share { id, name, project_id, pool, protocol, size_gib, provider_id, provider_data, locations, server, specs, metadata }
    t::ShareSnapshot => w::ShareSnapshot { id, name, project_id, share_id, size_gib, provider_id, provider_data, locations, server, metadata }
    t::AccessRule => w::AccessRule { id, kind, to, level, key }
    t::EnsureItem => ensure::EnsureItem { share, snapshots }
    t::Subnet => w::Subnet { id, availability_zone, network_type, segmentation_id, cidr, gateway, mtu, ip_version, neutron_net_id, neutron_subnet_id }
    t::Allocation => w::Allocation { id, ip_address, mac_address, label }
    t::SecurityService => w::SecurityService { id, kind, name, dns_ip, server, domain, user, password, ou, default_ad_site }
    t::NetworkInfo => w::NetworkInfo { subnet, allocations, admin_allocations, security_services }
    t::MigrationRequest => migration::Request { writable, preserve_snapshots }
}

from_wit! {
    t::VolumeUpdate => w::VolumeUpdate { provider_id, provider_data }
    t::SnapshotUpdate => w::SnapshotUpdate { provider_id, provider_data }
    t::ShareUpdate => w::ShareUpdate { provider_id, provider_data, locations, metadata }
    t::ShareSnapshotUpdate => w::ShareSnapshotUpdate { provider_id, provider_data, locations }
    t::ExportLocation => w::ExportLocation { path, admin_only, preferred, metadata }
    t::Manageable => volume_manage::Manageable { reference, size_gib, unsafe_because, managed_as, extra_info }
    t::ManageablePage => volume_manage::ManageablePage { items, next }
    t::Adopted<t::VolumeUpdate> => volume_manage::Adopted { size_gib, update }
    t::Adopted<t::ShareUpdate> => share_manage::Adopted { size_gib, update }
    t::Adopted<t::ShareSnapshotUpdate> => share_snapshot_manage::Adopted { size_gib, update }
    t::Chap => connection_info::Chap { user, password }
    t::IscsiTarget => connection_info::IscsiTarget { portal, iqn, lun }
    t::IscsiConnection => connection_info::IscsiConnection { targets, auth, discovery_auth, discard }
    t::FcTarget => connection_info::FcTarget { wwn, lun }
    t::NvmePortal => connection_info::NvmePortal { address, port, transport }
    t::NvmeConnection => connection_info::NvmeConnection { nqn, portals, volume_uuid, volume_nguid, namespace_id, discard }
    t::RbdConnection => connection_info::RbdConnection { name, hosts, ports, cluster_name, auth_enabled, auth_username, secret_uuid, keyring, discard }
    t::NfsConnection => connection_info::NfsConnection { share, name, options, format }
    t::Connection => connection_info::Connection { target, extra }
    t::AddressCounts => share_servers::AddressCounts { per_subnet, admin }
    t::ShareChange => w::ShareChange { id, locations, pool }
    t::SnapshotChange => w::SnapshotChange { id, provider_data, locations }
    t::NetworkUpdate => w::NetworkUpdate { shares, snapshots, details }
    t::MovedShare => w::MovedShare { id, pool, locations, provider_id, provider_data }
    t::MovedSnapshot => w::MovedSnapshot { id, locations, provider_id, provider_data }
    t::ServerMoved => w::ServerMoved { shares, snapshots, details }
    t::MigrationAbilities => migration::Abilities { writable, preserve_snapshots, cancel, progress }
    c::Features => capabilities::Features { block_protocols, share_protocols, multiattach, shared_targets, online_extend, share_server_mode, share_server_multiple_subnet_support, network_allocation_update_support, ip_versions, ensure_batch }
    c::Pool => capabilities::Pool { name, available, total, free, provisioned_gib, reserved_percentage, max_over_subscription_ratio, thin_provisioning, thick_provisioning, multiattach, online_extend, filter_function, goodness_function, extra }
    c::CapabilityReport => capabilities::CapabilityReport { features, pools, extra }
}

impl FromWit<connection_info::FcConnection> for t::FcConnection {
    fn from_wit(wit: connection_info::FcConnection) -> Self {
        Self { targets: wit.targets.host(), initiator_target_map: wit.initiator_target_map.into_iter().collect(), discard: wit.discard }
    }
}

impl FromWit<connection_info::ConnectionTarget> for t::ConnectionTarget {
    fn from_wit(wit: connection_info::ConnectionTarget) -> Self {
        use connection_info::ConnectionTarget as W;
        match wit {
            W::Iscsi(v) => Self::Iscsi(v.host()),
            W::FibreChannel(v) => Self::FibreChannel(v.host()),
            W::NvmeOf(v) => Self::NvmeOf(v.host()),
            W::Rbd(v) => Self::Rbd(v.host()),
            W::Nfs(v) => Self::Nfs(v.host()),
            W::Other(driver_volume_type) => Self::Other { driver_volume_type },
        }
    }
}

impl ToWit for t::DisconnectTarget {
    type Wit = connection_info::DisconnectTarget;
    fn wit(&self) -> Self::Wit {
        match self {
            Self::Connector(c) => connection_info::DisconnectTarget::Connector(c.wit()),
            Self::All => connection_info::DisconnectTarget::All,
        }
    }
}

impl ToWit for t::ShareProtocol {
    type Wit = w::ShareProtocol;
    fn wit(&self) -> w::ShareProtocol {
        match self {
            Self::Nfs => w::ShareProtocol::Nfs,
            Self::Cifs => w::ShareProtocol::Cifs,
            Self::Cephfs => w::ShareProtocol::Cephfs,
            Self::Glusterfs => w::ShareProtocol::Glusterfs,
            Self::Hdfs => w::ShareProtocol::Hdfs,
            Self::Maprfs => w::ShareProtocol::Maprfs,
            Self::Other(name) => w::ShareProtocol::Other(name.clone()),
        }
    }
}
impl FromWit<w::ShareProtocol> for t::ShareProtocol {
    fn from_wit(wit: w::ShareProtocol) -> Self {
        match wit {
            w::ShareProtocol::Nfs => Self::Nfs,
            w::ShareProtocol::Cifs => Self::Cifs,
            w::ShareProtocol::Cephfs => Self::Cephfs,
            w::ShareProtocol::Glusterfs => Self::Glusterfs,
            w::ShareProtocol::Hdfs => Self::Hdfs,
            w::ShareProtocol::Maprfs => Self::Maprfs,
            w::ShareProtocol::Other(name) => Self::Other(name),
        }
    }
}
impl FromWit<capabilities::BlockProtocol> for c::BlockProtocol {
    fn from_wit(wit: capabilities::BlockProtocol) -> Self {
        use capabilities::BlockProtocol as W;
        match wit {
            W::Iscsi => Self::Iscsi,
            W::FibreChannel => Self::FibreChannel,
            W::NvmeOf => Self::NvmeOf,
            W::Rbd => Self::Rbd,
            W::Nfs => Self::Nfs,
            W::Other(name) => Self::Other(name),
        }
    }
}
impl FromWit<w::Capacity> for c::Capacity {
    fn from_wit(wit: w::Capacity) -> Self {
        match wit {
            w::Capacity::Gib(g) => Self::Gib(g),
            w::Capacity::Infinite => Self::Infinite,
            w::Capacity::Unknown => Self::Unknown,
        }
    }
}

impl FromWit<w::Pending> for t::Pending {
    /// The wait is held to what the contract allows.
    fn from_wit(wit: w::Pending) -> Self {
        let retry_after = Duration::from_millis(u64::from(wit.retry_after_ms).clamp(100, 600_000));
        Self { token: wit.token, retry_after, percent: wit.percent.map(|p| p.min(100)) }
    }
}

macro_rules! answers {
    ($($t:ty => $w:path;)*) => {$(
        impl FromWit<$w> for Answer<$t> {
            fn from_wit(wit: $w) -> Self {
                type Wit = $w;
                match wit {
                    Wit::Done(v) => Self::Done(v.host()),
                    Wit::Pending(p) => Self::Pending(p.host()),
                }
            }
        }
    )*};
}
answers! {
    t::VolumeUpdate => w::VolumeOutcome;
    t::ShareUpdate => w::ShareOutcome;
    t::ServerDetails => share_servers::ServerOutcome;
    t::NetworkUpdate => allocations::UpdateOutcome;
    t::ServerMoved => migration::CompleteOutcome;
}
impl FromWit<w::ResizeOutcome> for Answer<()> {
    fn from_wit(wit: w::ResizeOutcome) -> Self {
        match wit {
            w::ResizeOutcome::Done => Self::Done(()),
            w::ResizeOutcome::Pending(p) => Self::Pending(p.host()),
        }
    }
}

impl FromWit<poll::PollOutcome> for t::PollOutcome {
    fn from_wit(wit: poll::PollOutcome) -> Self {
        match wit {
            poll::PollOutcome::Pending(v) => Self::Pending(v.host()),
            poll::PollOutcome::Volume(v) => Self::Volume(v.host()),
            poll::PollOutcome::Share(v) => Self::Share(v.host()),
            poll::PollOutcome::Resized => Self::Resized,
            poll::PollOutcome::Server(v) => Self::Server(v.host()),
            poll::PollOutcome::Network(v) => Self::Network(v.host()),
            poll::PollOutcome::Copied => Self::Copied,
            poll::PollOutcome::Moved(v) => Self::Moved(v.host()),
        }
    }
}
impl FromWit<volume_retype::RetypeOutcome> for t::RetypeOutcome {
    fn from_wit(wit: volume_retype::RetypeOutcome) -> Self {
        match wit {
            volume_retype::RetypeOutcome::Done(v) => Self::Done(v.host()),
            volume_retype::RetypeOutcome::NeedsMigration => Self::NeedsMigration,
        }
    }
}
impl FromWit<allocations::CheckOutcome> for t::NetworkCheck {
    fn from_wit(wit: allocations::CheckOutcome) -> Self {
        match wit {
            allocations::CheckOutcome::Ok => Self::Ok,
            allocations::CheckOutcome::Refused(reason) => Self::Refused(text(&reason, MESSAGE)),
        }
    }
}
impl FromWit<migration::CheckOutcome> for t::MigrationCheck {
    fn from_wit(wit: migration::CheckOutcome) -> Self {
        match wit {
            migration::CheckOutcome::Compatible(abilities) => Self::Compatible(abilities.host()),
            migration::CheckOutcome::Refused(reason) => Self::Refused(text(&reason, MESSAGE)),
        }
    }
}
impl FromWit<migration::CopyOutcome> for Answer<()> {
    fn from_wit(wit: migration::CopyOutcome) -> Self {
        match wit {
            migration::CopyOutcome::Done => Self::Done(()),
            migration::CopyOutcome::Pending(p) => Self::Pending(p.host()),
        }
    }
}
impl ToWit for t::MigrationSource {
    type Wit = migration::Source;
    fn wit(&self) -> migration::Source {
        let of = &self.situation;
        let rules = of.rules.iter().map(|(share_id, rules)| migration::ShareRules { share_id: share_id.clone(), rules: rules.wit() });
        migration::Source {
            host: self.host.clone(),
            server: of.server.wit(),
            networks: of.current.wit(),
            shares: of.shares.wit(),
            snapshots: of.snapshots.wit(),
            rules: rules.collect(),
        }
    }
}
impl FromWit<w::RuleState> for t::RuleState {
    fn from_wit(wit: w::RuleState) -> Self {
        let outcome = match wit.outcome {
            w::RuleOutcome::Active => Ok(()),
            w::RuleOutcome::Failed(e) => Err(e.host()),
        };
        Self { id: wit.id, outcome, key: wit.key }
    }
}
impl FromWit<ensure::EnsuredUpdate> for t::EnsuredUpdate {
    fn from_wit(wit: ensure::EnsuredUpdate) -> Self {
        Self {
            locations: wit.locations.host(),
            snapshots: wit.snapshots.into_iter().map(|s| (s.id, s.locations.host())).collect(),
            broken_because: wit.broken_because.host(),
            reapply_access_rules: wit.reapply_access_rules,
            metadata: wit.metadata.host(),
            provider_id: wit.provider_id,
            provider_data: wit.provider_data,
            pool: wit.pool,
        }
    }
}
impl FromWit<ensure::EnsureOutcome> for t::EnsureOutcome {
    fn from_wit(wit: ensure::EnsureOutcome) -> Self {
        match wit {
            ensure::EnsureOutcome::Updated(u) => Self::Updated(Box::new(u.host())),
            ensure::EnsureOutcome::Unchanged => Self::Unchanged,
            ensure::EnsureOutcome::Failed(e) => Self::Failed(e.host()),
        }
    }
}
impl FromWit<ensure::Ensured> for (String, t::EnsureOutcome) {
    fn from_wit(wit: ensure::Ensured) -> Self {
        (wit.id, wit.outcome.host())
    }
}

impl ToWit for BTreeMap<String, Vec<t::AccessRule>> {
    type Wit = Vec<allocations::ShareRules>;
    fn wit(&self) -> Self::Wit {
        self.iter().map(|(share_id, rules)| allocations::ShareRules { share_id: share_id.clone(), rules: rules.wit() }).collect()
    }
}

const MESSAGE: usize = 4096;
const USER_MESSAGE: usize = 1024;

impl FromWit<w::Error> for DriverError {
    fn from_wit(wit: w::Error) -> Self {
        let kind = match wit.kind {
            w::ErrorKind::Invalid => ErrorKind::Invalid,
            w::ErrorKind::NotFound => ErrorKind::NotFound,
            w::ErrorKind::Busy => ErrorKind::Busy,
            w::ErrorKind::Exhausted => ErrorKind::Exhausted,
            w::ErrorKind::Transient => ErrorKind::Transient,
            w::ErrorKind::Auth => ErrorKind::Auth,
            w::ErrorKind::Unsupported => ErrorKind::Unsupported,
            w::ErrorKind::DataLossRisk => ErrorKind::DataLossRisk,
            w::ErrorKind::Internal => ErrorKind::Internal,
        };
        Self {
            kind,
            message: text(&wit.message, MESSAGE),
            user_message: wit.user_message.map(|m| text(&m, USER_MESSAGE)).filter(|m| !m.is_empty()),
            retry_after: wit.retry_after_ms.map(|ms| Duration::from_millis(u64::from(ms))),
            partial: None,
        }
    }
}

impl FromWit<w::ServerError> for DriverError {
    fn from_wit(wit: w::ServerError) -> Self {
        Self { partial: wit.partial.host(), ..Self::from_wit(wit.error) }
    }
}

/// A driver's words: cut to size, one line.
pub fn text(text: &str, limit: usize) -> String {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_kind_and_is_cut_to_size() {
        let wit = w::Error {
            kind: w::ErrorKind::Busy,
            message: "ä".repeat(5000),
            user_message: Some("a\nb\u{1b}[0m".into()),
            retry_after_ms: Some(7),
        };
        let e: DriverError = wit.host();
        assert_eq!(e.kind, ErrorKind::Busy);
        assert!(e.message.len() <= MESSAGE);
        assert_eq!(e.user_message.as_deref(), Some("a b [0m"));
        assert_eq!(e.retry_after, Some(Duration::from_millis(7)));
    }

    #[test]
    fn waits_are_held_to_the_contract() {
        let pending = |ms| -> t::Pending { w::Pending { token: "t".into(), retry_after_ms: ms, percent: Some(250) }.host() };
        assert_eq!(pending(0).retry_after, Duration::from_millis(100));
        assert_eq!(pending(u32::MAX).retry_after, Duration::from_millis(600_000));
        assert_eq!(pending(500).percent, Some(100));
    }

    #[test]
    fn maps_survive_the_round_trip() {
        let map: StringMap = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), String::new())].into();
        assert_eq!(StringMap::from_wit(map.wit()), map);
    }
}
