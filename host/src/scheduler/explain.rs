//! Why a pool was taken, and why each other one was not: what an operator reads at `GET /stowage/v1/placements/{resource}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Pools told about in one explanation; the rest is a number.
pub const MOST_POOLS: usize = 64;

/// What kind of limit a placement met. The last filter that left nobody decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// No pool is known at all: no back end is configured, or none has reported.
    NoBackend,
    /// Every pool's back end is down, disabled or frozen, or takes nothing now.
    Service,
    AvailabilityZone,
    Capacity,
    Capabilities,
    /// No pool's `filter_function` takes the request.
    Function,
    /// Every pool was tried before.
    Attempted,
    /// `same_host`, `different_host`, or the back end the source lies on.
    Hints,
    /// A share network with several subnets needs `share_server_multiple_subnet_support`.
    SeveralSubnets,
}

impl Limit {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoBackend => "no_backend",
            Self::Service => "service",
            Self::AvailabilityZone => "availability_zone",
            Self::Capacity => "capacity",
            Self::Capabilities => "capabilities",
            Self::Function => "function",
            Self::Attempted => "attempted",
            Self::Hints => "hints",
            Self::SeveralSubnets => "several_subnets",
        }
    }

    /// For the user's message: names the kind of limit, no back end and no figures.
    pub const fn user_text(self) -> &'static str {
        match self {
            Self::NoBackend => "no storage back end is ready yet",
            Self::Service => "every storage back end that could take it is down or disabled",
            Self::AvailabilityZone => "no storage back end is in the availability zone asked",
            Self::Capacity => "no storage back end has enough free capacity",
            Self::Capabilities => "no storage back end has the capabilities that the type asks",
            Self::Function => "every storage back end that could take it keeps such resources away by its filter function",
            Self::Attempted => "every suitable storage back end was tried and failed",
            Self::Hints => "no storage back end satisfies the scheduler hints",
            Self::SeveralSubnets => {
                "no storage back end has share_server_multiple_subnet_support, which a share network with several subnets needs"
            }
        }
    }
}

/// Why one pool was not taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// `host@backend#pool`.
    pub pool: String,
    /// The filter that said no.
    pub filter: String,
    pub limit: Limit,
    pub reason: String,
    /// The figures or values behind the reason.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub numbers: Map<String, Value>,
}

/// One pool that passed every filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    pub pool: String,
    /// Sum of the weighers, normalised and multiplied.
    pub weight: f64,
    /// What each weigher saw, before normalisation. None: not a number.
    pub raw: Map<String, Value>,
}

/// A decision in full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The pool taken.
    pub chosen: Option<String>,
    pub ranked: Vec<Ranked>,
    pub rejected: Vec<Rejection>,
    /// Pools beyond [`MOST_POOLS`] in either list.
    #[serde(default)]
    pub left_out: usize,
}

impl Explanation {
    /// Cuts both lists to what is kept.
    pub fn bounded(mut self) -> Self {
        self.left_out = self.ranked.len().saturating_sub(MOST_POOLS) + self.rejected.len().saturating_sub(MOST_POOLS);
        self.ranked.truncate(MOST_POOLS);
        self.rejected.truncate(MOST_POOLS);
        self
    }
}

/// No pool can take the resource.
#[derive(Debug, Clone, PartialEq)]
pub struct NoValidBackend {
    /// What ran out.
    pub limit: Limit,
    /// A reason for every pool.
    pub rejections: Vec<Rejection>,
    /// An enabled back end of this service has not reported (again) yet, and is not known to be down.
    pub awaits_reports: bool,
}

impl NoValidBackend {
    /// A cause that goes away by itself right after a start: an enabled back end's report is still to come. A caller may
    /// try again for a while before it gives its resource an end state.
    pub fn worth_waiting(&self) -> bool {
        self.awaits_reports && matches!(self.limit, Limit::NoBackend | Limit::Service)
    }
}

impl std::fmt::Display for NoValidBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "No valid backend was found. {}.", capitalised(self.limit.user_text()))
    }
}

impl std::error::Error for NoValidBackend {}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
