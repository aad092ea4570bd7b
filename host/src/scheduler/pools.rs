//! A pool as filters and weighers see it.

use serde_json::{Map, Value};

use super::{
    capacity::{self, Capacity, Figures, Verdict, float},
    protocol,
    request::PlacementRequest,
    spec_match,
};
use crate::store::sql::{backends::BackendKind, capacity_claims::Operation, pools::PoolRow};

/// A pool that may be chosen.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub row: PoolRow,
    /// What extra specs are matched with; storage protocols in all their spellings.
    pub capabilities: Map<String, Value>,
}

impl Candidate {
    pub fn new(row: PoolRow) -> Self {
        let mut capabilities = row.capabilities();
        if let Some(reported) = capabilities.get("storage_protocol") {
            let all = match reported {
                Value::String(one) => protocol::spellings(one).into_iter().map(Value::from).collect(),
                Value::Array(several) => several.iter().filter_map(Value::as_str).flat_map(protocol::spellings).map(Value::from).collect(),
                _ => Vec::new(),
            };
            capabilities.insert("storage_protocol".to_owned(), Value::Array(all));
        }
        Self { row, capabilities }
    }

    /// `host@backend`.
    pub fn backend(&self) -> &str {
        &self.row.host
    }

    /// A capability that is a boolean, `default` where the pool does not report it.
    pub fn flag(&self, key: &str, default: bool) -> bool {
        match self.capabilities.get(key) {
            Some(Value::Bool(b)) => *b,
            Some(Value::String(text)) => spec_match::bool_word(text).unwrap_or(default),
            _ => default,
        }
    }

    /// Whether the request fits, with every claim that the report does not cover taken off.
    pub fn capacity(&self, request: &PlacementRequest) -> Verdict {
        let figures = self.figures(request);
        match request.service {
            BackendKind::Block => capacity::block::check(
                &figures,
                capacity::block::Ask { gib: request.size_gib, thick: !asks_thin(request), lives_here: false },
            ),
            BackendKind::Share => {
                capacity::share::check(&figures, capacity::share::Ask { gib: request.size_gib, thin: asks_thin(request) })
            }
        }
    }

    /// Room in GiB as the capacity weigher compares it. None: not a number.
    pub fn room(&self, request: &PlacementRequest) -> Option<f64> {
        let figures = self.figures(request);
        match request.service {
            BackendKind::Block => capacity::block::room(&figures, asks_thin(request)),
            BackendKind::Share => capacity::share::weight(&figures, asks_thin(request)),
        }
    }

    fn figures(&self, request: &PlacementRequest) -> Figures {
        let row = &self.row;
        let free = match row.free {
            Capacity::Gib(free) => Capacity::Gib(free - float(row.claimed_gib)),
            other => other,
        };
        let reserved = match (request.service, request.operation) {
            (BackendKind::Share, Operation::Extend) => row.reserved_extend_percentage,
            (BackendKind::Share, _) if request.share.from_snapshot => row.reserved_snapshot_percentage,
            _ => row.reserved_percentage,
        };
        let ratio =
            row.max_over_subscription.as_deref().and_then(|r| r.parse().ok()).unwrap_or(request.options.max_over_subscription_ratio);
        Figures { total: row.total, free: Some(free), provisioned: Some(row.provisioned()), reserved, ratio, thin: row.thin }
    }
}

/// Whether the type lets the pool provision thinly.
fn asks_thin(request: &PlacementRequest) -> bool {
    let spec = |key: &str| request.extra_specs.get(key).map(|v| v.trim_start_matches("<is>").trim());
    match request.service {
        BackendKind::Block => spec("provisioning:type") != Some("thick"),
        BackendKind::Share => {
            let asked = spec("thin_provisioning").or_else(|| spec("capabilities:thin_provisioning"));
            asked.and_then(spec_match::bool_word).unwrap_or(true)
        }
    }
}
