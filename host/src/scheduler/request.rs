//! What is to be placed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::capacity::{self, Ratio};
use crate::config::SchedulerConfig;
use crate::store::sql::{backends::BackendKind, capacity_claims::Operation, volumes::VolumeRow};

/// One request for room. Start from `Default` and set what applies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlacementRequest {
    pub request_id: String,
    /// Whose back ends and whose rules.
    pub service: BackendKind,
    /// `volume`, `snapshot`, `share`: for people.
    pub resource_kind: &'static str,
    /// The claim's key.
    pub resource_id: String,
    /// Whom the explanation is about, if that is another: a volume whose new object is placed.
    pub explained_as: Option<String>,
    pub project_id: String,
    /// The whole size for a create, the growth for an extend, the reservation for a snapshot.
    pub size_gib: i64,
    /// What the resource's size will be, where that is not `size_gib`: what the pools' functions see.
    pub whole_gib: Option<i64>,
    /// None: any.
    pub availability_zone: Option<String>,
    /// Of the type.
    pub extra_specs: BTreeMap<String, String>,
    /// QoS specs of the type: what the pools' functions see.
    pub qos: BTreeMap<String, String>,
    /// Pools tried before (`host@backend#pool`). An open claim there is left to the clean-up job: see `Tx::forget_claim`.
    pub exclude_pools: Vec<String>,
    /// Only this `host@backend` (a clone, a snapshot's source).
    pub only_backend: Option<String>,
    /// Only this `host@backend#pool` (extend, snapshot).
    pub only_pool: Option<String>,
    pub hints: Hints,
    pub operation: Operation,
    /// The resource is attached: an extend then needs `online_extend_support`.
    pub attached: bool,
    /// For shares.
    pub share: ShareNeeds,
    pub options: Options,
}

impl PlacementRequest {
    /// About a volume as it stands, or shall stand: what the filters and the pools' functions see of it. `specs` and `qos` are
    /// those of its type, or of the type it shall get.
    pub fn of_volume(volume: &VolumeRow, request_id: &str, specs: BTreeMap<String, String>, qos: BTreeMap<String, String>) -> Self {
        Self {
            request_id: request_id.to_owned(),
            service: BackendKind::Block,
            resource_kind: "volume",
            resource_id: volume.id.clone(),
            project_id: volume.project_id.clone(),
            size_gib: volume.size_gib,
            availability_zone: Some(volume.availability_zone.clone()),
            extra_specs: specs,
            qos,
            ..Self::default()
        }
    }
}

/// What only shares ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShareNeeds {
    /// `NFS`, `CIFS`: matched as `storage_protocol` where the type does not say.
    pub protocol: Option<String>,
    /// Where its share network is. None: it has none.
    pub network: Option<Reach>,
    pub from_snapshot: bool,
}

/// The subnets of a share network, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Those of a zone of their own.
    pub zones: BTreeMap<String, usize>,
    /// Those that serve every other zone.
    pub default: usize,
}

impl Reach {
    /// How many serve a zone.
    pub fn in_zone(&self, zone: &str) -> usize {
        self.zones.get(zone).copied().unwrap_or(self.default)
    }
}

/// Scheduler hints: near to, or away from, other resources of the caller's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// On the back end of one of these.
    pub same_host: Vec<String>,
    /// On the back end of none of these.
    pub different_host: Vec<String>,
}

impl Hints {
    /// The hints that count.
    pub const KEYS: [&str; 2] = ["same_host", "different_host"];
    /// Most ids of one hint.
    pub const MOST: usize = 128;

    /// From `OS-SCH-HNT:scheduler_hints`: each hint is one id or a list of them; other hints are for filters we do not have.
    pub fn from_json(hints: &Value) -> Self {
        let ids = |key: &str| match hints.get(key) {
            Some(Value::String(id)) => vec![id.clone()],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Self { same_host: ids("same_host"), different_host: ids("different_host") }
    }
}

/// The operator's choices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Where a pool does not say.
    pub max_over_subscription_ratio: Ratio,
    /// Above 0 spreads over pools with most room, below 0 fills the fullest first.
    pub capacity_weight_multiplier: f64,
    /// Below 0 prefers pools that were given least; 0 leaves it out.
    pub allocated_capacity_weight_multiplier: f64,
    /// Below 0 prefers pools with few resources; 0 leaves it out.
    pub volume_number_multiplier: f64,
    /// Above 0 prefers what the pools' goodness functions prefer.
    pub goodness_weight_multiplier: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_over_subscription_ratio: capacity::DEFAULT_RATIO,
            capacity_weight_multiplier: 1.0,
            allocated_capacity_weight_multiplier: 0.0,
            volume_number_multiplier: 0.0,
            goodness_weight_multiplier: 1.0,
        }
    }
}

impl From<&SchedulerConfig> for Options {
    fn from(config: &SchedulerConfig) -> Self {
        Self {
            max_over_subscription_ratio: Ratio::Fixed(config.max_over_subscription_ratio),
            capacity_weight_multiplier: config.capacity_weight,
            allocated_capacity_weight_multiplier: config.allocated_capacity_weight,
            volume_number_multiplier: config.volume_number_weight,
            goodness_weight_multiplier: config.goodness_weight,
        }
    }
}
