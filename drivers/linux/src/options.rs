//! The back end's section, parsed. What is wrong in it is refused by `init`, and so never reaches a user's call.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

const NODES: Opt<Vec<String>> = Opt::texts(
    "nodes",
    "The nodes, each POOL=URL: `fast=https://node1.example:8788`. The pool's name stands in the host of each volume there: never change it. \
     grants.http must list each URL's host and port.",
)
.required();
pub const TOKEN: Opt<String> =
    Opt::secret("token", "The bearer token in the nodes' token files; one for all nodes of a back end.").required();
const LAYOUT: Opt<String> = Opt::choice(
    "layout",
    &["target-per-volume", "target-per-initiator"],
    "How new volumes are exported: an iSCSI target for each volume, or one for each initiator that holds the volumes attached to it.",
)
.default("target-per-volume");
const LAYOUT_BY_TYPE: Opt<bool> = Opt::boolean(
    "layout_by_type",
    "Types may choose the layout with the extra spec `linux:layout`. Then `shared_targets` of all volumes reads true.",
)
.default("false");
const ACCEPT_REPLACED: Opt<bool> = Opt::boolean(
    "accept_replaced_nodes",
    "Take a pool into service although another node answers behind its URL than before. The volumes of the old one are not there.",
)
.default("false");
const OVER_SUBSCRIPTION: Opt<f64> = Opt::number(
    "max_over_subscription_ratio",
    "Promised to real capacity of each pool, at least 1. Unset: scheduler.max_over_subscription_ratio.",
);
const RESERVED: Opt<i64> =
    Opt::integer("reserved_percentage", 0, 100, "Percent of each pool's total kept free. Unset: scheduler.reserved_percentage.");

/// The extra spec that chooses a layout.
pub const LAYOUT_SPEC: &str = "linux:layout";
const SPEC_PREFIX: &str = "linux:";

pub fn all() -> Vec<OptionSpec> {
    vec![
        NODES.spec(),
        TOKEN.spec(),
        LAYOUT.spec(),
        LAYOUT_BY_TYPE.spec(),
        ACCEPT_REPLACED.spec(),
        OVER_SUBSCRIPTION.spec(),
        RESERVED.spec(),
    ]
}

/// Which volumes share an iSCSI target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    TargetPerVolume,
    TargetPerInitiator,
}

impl Layout {
    pub const ALL: [Self; 2] = [Self::TargetPerVolume, Self::TargetPerInitiator];

    pub fn name(self) -> &'static str {
        match self {
            Self::TargetPerVolume => "target-per-volume",
            Self::TargetPerInitiator => "target-per-initiator",
        }
    }
    fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|l| l.name() == text)
    }
}

/// A pool and where its node listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub pool: String,
    /// Scheme and authority, nothing behind.
    pub url: String,
}

pub struct Config {
    /// At least one; pools and URLs stand once.
    pub nodes: Vec<Place>,
    pub layout: Layout,
    pub layout_by_type: bool,
    pub accept_replaced: bool,
    pub over_subscription: Option<f64>,
    pub reserved: Option<u32>,
}

impl Config {
    pub fn read(cx: &Context) -> Result<Self> {
        let nodes = cx.get(&NODES)?.iter().map(|text| place(text)).collect::<Result<Vec<_>>>()?;
        if nodes.is_empty() {
            return Err(DriverError::invalid("`nodes` is empty: name at least one, POOL=URL"));
        }
        for (n, node) in nodes.iter().enumerate() {
            if let Some(other) = nodes[..n].iter().find(|o| o.pool == node.pool || o.url == node.url) {
                return Err(DriverError::invalid(format!("`nodes`: {}={} and {}={} overlap", other.pool, other.url, node.pool, node.url)));
            }
        }
        let layout = cx.find(&LAYOUT)?.unwrap_or_else(|| Layout::TargetPerVolume.name().to_owned());
        let over_subscription = cx.find(&OVER_SUBSCRIPTION)?;
        if over_subscription.is_some_and(|ratio| !ratio.is_finite() || ratio < 1.0) {
            return Err(DriverError::invalid("`max_over_subscription_ratio` is below 1"));
        }
        Ok(Self {
            nodes,
            layout: Layout::named(&layout).ok_or_else(|| DriverError::invalid(format!("`layout`: there is no layout `{layout}`")))?,
            layout_by_type: cx.find(&LAYOUT_BY_TYPE)?.unwrap_or(false),
            accept_replaced: cx.find(&ACCEPT_REPLACED)?.unwrap_or(false),
            over_subscription,
            reserved: cx.find(&RESERVED)?.and_then(|percent| u32::try_from(percent).ok()),
        })
    }

    /// What a type asks for. A `linux:` spec that is not understood is refused: ignoring it would promise what is not kept.
    pub fn layout_of(&self, specs: &[KeyValue]) -> Result<Layout> {
        let refuse =
            |why: String| Err(DriverError::unsupported(why).for_user("The volume type asks for what this storage does not offer."));
        if let Some(spec) = specs.iter().find(|s| s.key.starts_with(SPEC_PREFIX) && s.key != LAYOUT_SPEC) {
            return refuse(format!("the type's extra spec `{}` is not known; this driver knows `{LAYOUT_SPEC}`", spec.key));
        }
        let Some(text) = KeyValue::find(specs, LAYOUT_SPEC) else { return Ok(self.layout) };
        match Layout::named(text) {
            None => refuse(format!(
                "the type's extra spec `{LAYOUT_SPEC}` is `{text}`; it may be `target-per-volume` or `target-per-initiator`"
            )),
            Some(layout) if layout != self.layout && !self.layout_by_type => refuse(format!(
                "the type asks for the layout `{text}`, this back end exports `{}` only: set `layout_by_type` to permit both",
                self.layout.name()
            )),
            Some(layout) => Ok(layout),
        }
    }
}

/// `POOL=URL`.
fn place(text: &str) -> Result<Place> {
    let bad = |why: &str| DriverError::invalid(format!("`nodes`: `{text}`: {why}"));
    let (pool, url) = text.split_once('=').ok_or_else(|| bad("it is not POOL=URL"))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if pool.is_empty() || pool.len() > 64 || !pool.chars().all(plain) {
        return Err(bad("a pool's name is 1 to 64 letters, digits, `_`, `.` or `-`"));
    }
    let url = url.trim_end_matches('/');
    let authority =
        url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or_else(|| bad("the URL is not http:// or https://"))?;
    if authority.is_empty() || !authority.chars().all(|c| plain(c) || matches!(c, ':' | '[' | ']')) {
        return Err(bad("the URL is scheme, host and port, and nothing else"));
    }
    Ok(Place { pool: pool.to_owned(), url: url.to_ascii_lowercase() })
}
