//! What the nodes can do and how much room they have.
//!
//! Every configured pool is reported, always: volumes name it. A node that does not answer, or is not the one that was behind
//! the pool before, makes its pool unavailable, with the reason in the log and in the pool's property `unavailable_reason`; its features
//! are those it had last, so that an outage does not look like a change of what volumes may do.
//!
//! `shared-targets` is *no* only when it is known that no volume shares a target: types have no choice, and each node was
//! looked through for volumes of the other layout, once per load of the driver.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use crate::{
    Linux, names,
    node::Node,
    options::{Layout, Place},
    wire,
};

/// Longest wait for one node, so that those behind it in the list are asked too.
const PATIENCE: Duration = Duration::from_secs(5);
/// A node that did not answer this recently is not asked again: at a start, `init` and the first report come together.
const DOWN_HOLDS_MS: u64 = 10_000;
/// For looking through volumes, in one report.
const LOOK_THROUGH: Duration = Duration::from_secs(1);
const LARGEST_PAGE: usize = 1_000;

/// What is remembered of the node behind a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub id: String,
    pub multiattach: bool,
    pub online_extend: bool,
    pub thin: bool,
}

/// How far a node's volumes were looked through for those of another layout.
#[derive(Default, Serialize, Deserialize)]
struct LookedThrough {
    after: Option<String>,
    all: bool,
}

pub fn known_key(pool: &str) -> String {
    format!("node/{pool}")
}

pub fn down_key(pool: &str) -> String {
    format!("down/{pool}")
}

/// A share of `total` for each of `left` nodes.
pub fn share(total: Duration, left: usize) -> Duration {
    total / u32::try_from(left.max(1)).unwrap_or(u32::MAX)
}

impl Linux {
    /// Asks who is behind a pool. The answer is usable: the API is ours, and the layouts that volumes may get are there.
    pub fn about(&self, cx: &Context, node: &Node<'_>) -> Result<wire::About> {
        let about: wire::About = node.get("/v1/node")?;
        let wrong = |why: String| Err(wire::unusable(format!("pool `{}` at {}: {why}", node.place.pool, node.place.url)));
        if about.api != "v1" {
            return wrong(format!("it speaks {:?}, this driver v1", about.api));
        }
        if !names::is_id(&about.id, 64) {
            return wrong(format!("its id is {:?}", about.id));
        }
        if let Some(missing) = self.layouts().iter().find(|l| !about.layouts.iter().any(|has| has == l.name())) {
            return wrong(format!("it does not have the layout `{}`", missing.name()));
        }
        let known = cx.kv().get::<Known>(&known_key(&node.place.pool))?;
        if let Some(before) = known.filter(|k| k.value.id != about.id)
            && !self.config.accept_replaced
        {
            return Err(DriverError::invalid(format!(
                "pool `{}`: node {} was behind it, now {} answers at {}. Correct the option `nodes`; if the node was replaced and its volumes \
                 are given up, set `accept_replaced_nodes`",
                node.place.pool, before.value.id, about.id, node.place.url
            )));
        }
        Ok(about)
    }

    /// The layouts that volumes of this back end may get.
    fn layouts(&self) -> Vec<Layout> {
        if self.config.layout_by_type { Layout::ALL.to_vec() } else { vec![self.config.layout] }
    }

    pub fn look(&self, cx: &Context) -> CapabilityReport {
        let mut behind: BTreeMap<String, &str> = BTreeMap::new();
        let (mut pools, mut unshared) = (Vec::new(), true);
        let nodes = &self.config.nodes;
        for (n, place) in nodes.iter().enumerate() {
            let node = Node::new(cx, place).within(PATIENCE.min(share(cx.remaining() / 2, nodes.len() - n)));
            let asked = self.up(cx, place).and_then(|()| self.about(cx, &node)).and_then(|about| match behind.get(&about.id) {
                Some(other) => Err(DriverError::invalid(format!("pool `{}` leads to the node of pool `{other}`", place.pool))),
                None => Ok((node.get::<wire::Room>("/v1/capacity")?, about)),
            });
            match asked {
                Ok((room, about)) => {
                    unshared = unshared && self.unshared(cx, place);
                    pools.push(self.pool(place, &about, &room));
                    remember(cx, place, &about);
                    behind.insert(about.id, &place.pool);
                }
                Err(e) => {
                    cx.log(Level::Warn, &format!("a node is unavailable: {}", e.message), &[KeyValue::new("pool", place.pool.as_str())]);
                    unshared = unshared && self.looked_through(cx, place);
                    pools.push(self.unavailable(cx, place, &e));
                }
            }
        }
        let features = Features {
            multiattach: pools.iter().any(|p| p.multiattach == Some(true)),
            online_extend: pools.iter().any(|p| p.online_extend == Some(true)),
            shared_targets: match (self.config.layout_by_type, self.config.layout) {
                (false, Layout::TargetPerInitiator) => SharedTargets::Yes,
                (false, Layout::TargetPerVolume) if unshared => SharedTargets::No,
                _ => SharedTargets::Unknown,
            },
            ..Features::block(BlockProtocol::Iscsi)
        };
        CapabilityReport::new(features, pools)
    }

    #[expect(clippy::cast_precision_loss, reason = "a report needs no byte's precision")]
    fn pool(&self, place: &Place, about: &wire::About, room: &wire::Room) -> Pool {
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        let wire::Features { multiattach, online_extend, thin } = about.features;
        let layouts: Vec<String> = self.layouts().iter().map(|l| l.name().to_owned()).collect();
        Pool {
            total: Capacity::Gib(gib(room.total_bytes)),
            free: Capacity::Gib(gib(room.free_bytes.min(room.total_bytes))),
            provisioned_gib: Some(gib(room.provisioned_bytes)),
            reserved_percentage: self.config.reserved,
            max_over_subscription_ratio: self.config.over_subscription,
            thin_provisioning: thin,
            thick_provisioning: !thin,
            multiattach: Some(multiattach),
            online_extend: Some(online_extend),
            extra: vec![
                Property::new("target_layout", layouts),
                Property::new("node_id", about.id.as_str()),
                Property::new("node_version", about.version.chars().filter(|c| c.is_ascii_graphic()).take(64).collect::<String>()),
            ],
            ..Pool::new(&place.pool)
        }
    }

    /// Nothing new goes here. How much room there is, nobody knows; what is there stays, with the features it had.
    fn unavailable(&self, cx: &Context, place: &Place, why: &DriverError) -> Pool {
        let known = cx.kv().get::<Known>(&known_key(&place.pool)).ok().flatten().map(|k| k.value);
        let thin = known.as_ref().is_none_or(|k| k.thin);
        Pool {
            available: false,
            thin_provisioning: thin,
            thick_provisioning: !thin,
            // of a node that was never seen: what every node can, and what must be proved
            multiattach: Some(known.as_ref().is_none_or(|k| k.multiattach)),
            online_extend: Some(known.is_some_and(|k| k.online_extend)),
            extra: vec![Property::new("unavailable_reason", why.message.as_str())],
            ..Pool::new(&place.pool)
        }
    }

    /// Refuses to ask a node again that just did not answer.
    fn up(&self, cx: &Context, place: &Place) -> Result<()> {
        match cx.session().get::<(u64, String)>(&down_key(&place.pool))? {
            Some(down) if cx.monotonic_ms().saturating_sub(down.value.0) < DOWN_HOLDS_MS => Err(DriverError::transient(down.value.1)),
            _ => Ok(()),
        }
    }

    /// Whether no volume of this node shares a target. Goes on where it stopped; what cannot be asked counts as not known.
    fn unshared(&self, cx: &Context, place: &Place) -> bool {
        if self.config.layout_by_type || self.config.layout != Layout::TargetPerVolume || self.looked_through(cx, place) {
            return true;
        }
        match self.look_through(cx, place) {
            Ok(unshared) => unshared,
            Err(e) => {
                cx.warn(format!("pool `{}`: its volumes' layouts are not known yet: {}", place.pool, e.message));
                false
            }
        }
    }

    fn looked_through(&self, cx: &Context, place: &Place) -> bool {
        cx.session().get::<LookedThrough>(&looked_key(place)).ok().flatten().is_some_and(|l| l.value.all)
    }

    fn look_through(&self, cx: &Context, place: &Place) -> Result<bool> {
        let began = cx.monotonic_ms();
        let node = Node::new(cx, place).within(LOOK_THROUGH);
        let key = looked_key(place);
        let mut so_far = cx.session().get::<LookedThrough>(&key)?.map(|l| l.value).unwrap_or_default();
        loop {
            let after = so_far.after.as_deref().map(|id| format!("&after={}", names::encoded(id))).unwrap_or_default();
            let page: wire::VolumePage = node.get(&format!("/v1/volumes?limit={LARGEST_PAGE}{after}"))?;
            if let Some(other) = page.volumes.iter().find(|v| v.layout != self.config.layout.name()) {
                cx.warn(format!(
                    "pool `{}`: volume {} has the layout {:?}: shared targets are reported as unknown",
                    place.pool, other.id, other.layout
                ));
                return Ok(false);
            }
            let forward = page.next.is_none() || page.next > so_far.after;
            if !forward {
                return Err(wire::unusable(format!("a list of volumes that goes from {:?} to {:?}", so_far.after, page.next)));
            }
            so_far = LookedThrough { all: page.next.is_none(), after: page.next };
            cx.session().put(&key, &so_far, None)?;
            if so_far.all {
                return Ok(true);
            }
            if cx.monotonic_ms().saturating_sub(began) >= u64::try_from(LOOK_THROUGH.as_millis()).unwrap_or(u64::MAX) {
                return Ok(false); // the next report goes on from here
            }
        }
    }
}

fn looked_key(place: &Place) -> String {
    format!("layouts/{}", place.pool)
}

/// Writes down who is behind a pool, when that is news. A failure costs the memory, not the report.
fn remember(cx: &Context, place: &Place, about: &wire::About) {
    let wire::Features { multiattach, online_extend, thin } = about.features;
    let now = Known { id: about.id.clone(), multiattach, online_extend, thin };
    let key = known_key(&place.pool);
    let written = cx.kv().get::<Known>(&key).and_then(|before| match before {
        Some(before) if before.value == now => Ok(()),
        _ => cx.kv().put(&key, &now).map(drop),
    });
    if let Err(e) = written {
        cx.warn(format!("pool `{}`: the node behind it could not be written down: {}", place.pool, e.message));
    }
}
