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
/// Bytes of a pool's function: the longest that is read.
const MAX_FUNCTION: usize = 4096;
/// Free keys of one pool, or of the back end.
const MAX_EXTRA: usize = 256;
/// Bytes of one key or text, and texts in a list: all of it is kept, and looked at for every request.
const MAX_TEXT: usize = 1024;
const MAX_TEXTS: usize = 256;
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

    /// Refuses what cannot be: no pools, repeated or unusable names, capacities that are no numbers, texts that are too long.
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
        self.check_sizes()?;
        let mut keys = self.extra.keys().chain(self.pools.iter().flat_map(|p| p.extra.keys()));
        if let Some(key) = keys.find(|k| RESERVED.contains(&k.replace('-', "_").as_str())) {
            return wrong(format!("{key:?} is a typed field and cannot stand in extra"));
        }
        Ok(())
    }

    fn check_sizes(&self) -> DriverResult<()> {
        let protocols = self.features.block_protocols.iter().map(|p| if let BlockProtocol::Other(name) = p { name.as_str() } else { "" });
        let shares = self.features.share_protocols.iter().map(|p| if let ShareProtocol::Other(name) = p { name.as_str() } else { "" });
        if protocols.chain(shares).any(|name| name.len() > MAX_TEXT) {
            return Err(DriverError::wrong_answer(format!("a protocol's name has more than {MAX_TEXT} bytes")));
        }
        check_extra("the back end", &self.extra)?;
        for pool in &self.pools {
            let what = format!("pool {:?}", pool.name);
            for (field, function) in [("filter-function", &pool.filter_function), ("goodness-function", &pool.goodness_function)] {
                if function.as_ref().is_some_and(|f| f.len() > MAX_FUNCTION) {
                    return Err(DriverError::wrong_answer(format!("{what}: {field} has more than {MAX_FUNCTION} bytes")));
                }
            }
            check_extra(&what, &pool.extra)?;
        }
        Ok(())
    }
}

fn check_extra(what: &str, extra: &BTreeMap<String, Value>) -> DriverResult<()> {
    if extra.len() > MAX_EXTRA {
        return Err(DriverError::wrong_answer(format!("{what}: {} free keys; {MAX_EXTRA} are allowed", extra.len())));
    }
    for (key, value) in extra {
        let fits = match value {
            Value::Boolean(_) | Value::Number(_) => true,
            Value::Text(text) => text.len() <= MAX_TEXT,
            Value::Texts(list) => list.len() <= MAX_TEXTS && list.iter().all(|text| text.len() <= MAX_TEXT),
        };
        if key.len() > MAX_TEXT || !fits {
            return Err(DriverError::wrong_answer(format!(
                "{what}: {key:.64?} is too long; keys and texts have at most {MAX_TEXT} bytes, lists {MAX_TEXTS} texts"
            )));
        }
    }
    Ok(())
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
    fn the_limits_of_texts_and_functions_are_inclusive() {
        type Change = fn(&mut Pool, usize);
        let with = |change: Change, n| {
            let mut one = pool("a");
            change(&mut one, n);
            report(vec![one]).check().map_err(|e| e.kind)
        };
        let changes: [(Change, usize); 6] = [
            (|p, n| p.filter_function = Some("1".repeat(n)), 4096),
            (|p, n| p.goodness_function = Some("1".repeat(n)), 4096),
            (|p, n| drop(p.extra.insert("k".into(), Value::Text("x".repeat(n)))), 1024),
            (|p, n| drop(p.extra.insert("k".into(), Value::Texts(vec!["x".repeat(n)]))), 1024),
            (|p, n| drop(p.extra.insert("k".into(), Value::Texts(vec![String::new(); n]))), 256),
            (|p, n| drop(p.extra.insert("k".repeat(n), Value::Boolean(true))), 1024),
        ];
        for (at, (change, most)) in changes.into_iter().enumerate() {
            assert_eq!(with(change, most), Ok(()), "{at}");
            assert_eq!(with(change, most + 1), Err(super::super::ErrorKind::WrongAnswer), "{at}");
        }
        let keys = |n: usize| {
            let extra = (0..n).map(|k| (format!("k{k}"), Value::Boolean(true))).collect();
            CapabilityReport { extra, ..report(vec![pool("a")]) }
        };
        assert!(keys(256).check().is_ok() && keys(257).check().is_err());
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
