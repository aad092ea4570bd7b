//! What a back end says it can do and how much room it has.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    error::{DriverError, DriverResult},
    types::{IpVersion, ShareProtocol, Value},
};

/// Room. For shares `Infinite` counts as `Unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    Gib(f64),
    Infinite,
    Unknown,
}

impl Capacity {
    pub fn gib(self) -> Option<f64> {
        match self {
            Self::Gib(g) => Some(g),
            Self::Infinite | Self::Unknown => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockProtocol {
    Iscsi,
    FibreChannel,
    NvmeOf,
    Rbd,
    Nfs,
    Other(String),
}

impl BlockProtocol {
    /// As upstream's `storage_protocol` spells it, every accepted spelling first to last: extra specs match any of them.
    pub fn spellings(&self) -> Vec<&str> {
        match self {
            Self::Iscsi => vec!["iSCSI", "iscsi"],
            Self::FibreChannel => vec!["FC", "fibre_channel", "fc"],
            Self::NvmeOf => vec!["NVMe-oF", "NVMeOF", "nvmeof", "NVMe-TCP", "nvmeof_tcp"],
            Self::Rbd => vec!["ceph"],
            Self::Nfs => vec!["nfs", "NFS"],
            Self::Other(name) => vec![name],
        }
    }
    pub fn is_nvme(&self) -> bool {
        match self {
            Self::NvmeOf => true,
            Self::Other(name) => name.to_ascii_lowercase().starts_with("nvme"),
            _ => false,
        }
    }
}

/// Whether volumes share a target on the array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedTargets {
    Yes,
    No,
    #[default]
    Unknown,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareServerMode {
    #[default]
    WithoutServers,
    WithServers,
    Either,
}

/// Of the back end as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Features {
    pub block_protocols: Vec<BlockProtocol>,
    pub share_protocols: Vec<ShareProtocol>,
    pub multiattach: bool,
    pub shared_targets: SharedTargets,
    pub online_extend: bool,
    pub share_server_mode: ShareServerMode,
    pub share_server_multiple_subnet_support: bool,
    pub network_allocation_update_support: bool,
    pub ip_versions: Vec<IpVersion>,
    pub ensure_batch: Option<u32>,
}

impl Features {
    /// What a volume's `shared_targets` column becomes: no is false, yes or unknown is true, any NVMe-oF except no is null.
    pub fn volume_shared_targets(&self) -> Option<bool> {
        match self.shared_targets {
            SharedTargets::No => Some(false),
            SharedTargets::Yes | SharedTargets::Unknown => (!self.block_protocols.iter().any(BlockProtocol::is_nvme)).then_some(true),
        }
    }
}

/// A part of the array that objects are placed in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    pub name: String,
    pub available: bool,
    pub total: Capacity,
    pub free: Capacity,
    pub provisioned_gib: Option<f64>,
    pub reserved_percentage: Option<u32>,
    pub max_over_subscription_ratio: Option<f64>,
    pub thin_provisioning: bool,
    pub thick_provisioning: bool,
    /// None: as in [`Features`].
    pub multiattach: Option<bool>,
    pub online_extend: Option<bool>,
    pub filter_function: Option<String>,
    pub goodness_function: Option<String>,
    pub extra: BTreeMap<String, Value>,
}

/// One report. Stored with the moment its call began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapabilityReport {
    pub features: Features,
    pub pools: Vec<Pool>,
    /// Counts for every pool that does not say otherwise.
    pub extra: BTreeMap<String, Value>,
}

const MAX_POOLS: usize = 10_000;
const MAX_POOL_NAME: usize = 128;
/// Typed fields; a driver may not smuggle another value in beside them.
const RESERVED: [&str; 22] = [
    "pool_name",
    "multiattach",
    "shared_targets",
    "online_extend_support",
    "storage_protocol",
    "driver_handles_share_servers",
    "share_server_multiple_subnet_support",
    "network_allocation_update_support",
    "total_capacity_gb",
    "free_capacity_gb",
    "allocated_capacity_gb",
    "provisioned_capacity_gb",
    "reserved_percentage",
    "max_over_subscription_ratio",
    "thin_provisioning_support",
    "thick_provisioning_support",
    "filter_function",
    "goodness_function",
    "volume_backend_name",
    "share_backend_name",
    "backend_state",
    "timestamp",
];

impl CapabilityReport {
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|p| p.name == name)
    }

    /// Whether volumes of `pool` may be attached more than once.
    pub fn multiattach(&self, pool: &Pool) -> bool {
        pool.multiattach.unwrap_or(self.features.multiattach)
    }

    pub fn online_extend(&self, pool: &Pool) -> bool {
        pool.online_extend.unwrap_or(self.features.online_extend)
    }

    /// Refuses what cannot be: no pools, repeated or unusable names, capacities that are no numbers.
    ///
    /// # Errors
    /// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer) naming the pool and the field.
    pub fn check(&self) -> DriverResult<()> {
        let wrong = |m: String| Err(DriverError::wrong_answer(m));
        if self.pools.is_empty() || self.pools.len() > MAX_POOLS {
            return wrong(format!("a report has 1 to {MAX_POOLS} pools, this one {}", self.pools.len()));
        }
        let mut seen = BTreeSet::new();
        for pool in &self.pools {
            let name = &pool.name;
            if name.is_empty() || name.len() > MAX_POOL_NAME || name.chars().any(|c| matches!(c, '#' | '@') || c.is_control()) {
                return wrong(format!("{name:?} cannot be a pool's name"));
            }
            if !seen.insert(name) {
                return wrong(format!("pool {name:?} is reported twice"));
            }
            for (field, capacity) in [("total", pool.total), ("free", pool.free)] {
                if capacity.gib().is_some_and(|g| !g.is_finite() || g < 0.0) {
                    return wrong(format!("pool {name:?}: {field} is not an amount"));
                }
            }
            if let (Capacity::Gib(total), Capacity::Gib(free)) = (pool.total, pool.free)
                && free > total
            {
                return wrong(format!("pool {name:?}: {free} GiB are free of {total}"));
            }
            if pool.provisioned_gib.is_some_and(|g| !g.is_finite() || g < 0.0) {
                return wrong(format!("pool {name:?}: provisioned-gib is not an amount"));
            }
            if pool.max_over_subscription_ratio.is_some_and(|r| !r.is_finite() || r < 1.0) {
                return wrong(format!("pool {name:?}: max-over-subscription-ratio is below 1"));
            }
            if pool.reserved_percentage.is_some_and(|p| p > 100) {
                return wrong(format!("pool {name:?}: reserved-percentage is above 100"));
            }
        }
        let mut keys = self.extra.keys().chain(self.pools.iter().flat_map(|p| p.extra.keys()));
        if let Some(key) = keys.find(|k| RESERVED.contains(&k.replace('-', "_").as_str())) {
            return wrong(format!("{key:?} is a typed field and cannot stand in extra"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(name: &str) -> Pool {
        Pool {
            name: name.into(),
            available: true,
            total: Capacity::Gib(10.0),
            free: Capacity::Gib(10.0),
            provisioned_gib: None,
            reserved_percentage: None,
            max_over_subscription_ratio: None,
            thin_provisioning: true,
            thick_provisioning: false,
            multiattach: None,
            online_extend: None,
            filter_function: None,
            goodness_function: None,
            extra: BTreeMap::new(),
        }
    }
    fn report(pools: Vec<Pool>) -> CapabilityReport {
        CapabilityReport { features: Features::default(), pools, extra: BTreeMap::new() }
    }

    #[test]
    fn a_plain_report_is_accepted() {
        report(vec![pool("a"), pool("b")]).check().unwrap();
    }

    #[test]
    fn reports_that_cannot_be_are_refused() {
        let mut nan = pool("a");
        nan.free = Capacity::Gib(f64::NAN);
        let mut negative = pool("a");
        negative.total = Capacity::Gib(-1.0);
        let mut smuggled = pool("a");
        smuggled.extra.insert("free-capacity-gb".into(), Value::Number(1e9));
        let mut overfree = pool("a");
        overfree.free = Capacity::Gib(10.5);
        for bad in [
            vec![overfree],
            vec![],
            vec![pool("a"), pool("a")],
            vec![pool("a#b")],
            vec![pool("")],
            vec![nan],
            vec![negative],
            vec![smuggled],
        ] {
            let refused = report(bad.clone()).check().unwrap_err();
            assert_eq!(refused.kind, super::super::ErrorKind::WrongAnswer, "{bad:?}");
        }
    }

    #[test]
    fn shared_targets_follow_the_report() {
        let features = |shared_targets, p: BlockProtocol| Features { shared_targets, block_protocols: vec![p], ..Features::default() };
        assert_eq!(features(SharedTargets::No, BlockProtocol::NvmeOf).volume_shared_targets(), Some(false));
        assert_eq!(features(SharedTargets::No, BlockProtocol::Iscsi).volume_shared_targets(), Some(false));
        assert_eq!(features(SharedTargets::Yes, BlockProtocol::Iscsi).volume_shared_targets(), Some(true));
        assert_eq!(features(SharedTargets::Unknown, BlockProtocol::Rbd).volume_shared_targets(), Some(true));
        assert_eq!(features(SharedTargets::Unknown, BlockProtocol::NvmeOf).volume_shared_targets(), None);
        assert_eq!(features(SharedTargets::Yes, BlockProtocol::Other("nvmeof_tcp".into())).volume_shared_targets(), None);
    }
}
