//! `linux`: volumes on Linux machines that run `stowage node`, over the HTTP API in docs/node-api.md. Each node is a pool.
//!
//! The nodes keep the truth, fence by generation and make every verb repeatable; the driver translates, and believes no
//! answer that it does not understand. It keeps two things: which node stood behind a pool last (`kv`, see [`report`]), so
//! that a URL that leads elsewhere is noticed, and what a load of the driver found out (`session`). Copies never cross nodes.
//! A node that fails makes its own pool unavailable, with the reason, and nothing else.

mod connections;
mod copies;
mod manage;
mod names;
mod node;
mod options;
mod refusal;
mod report;
mod retype;
mod snapshots;
mod start;
#[cfg(test)]
mod tests;
mod volumes;
mod wire;

use stowage_driver_sdk::prelude::*;

use crate::{node::Node, options::Config};

struct Linux {
    config: Config,
}

impl Linux {
    /// The node behind a pool. A volume is on the node of its pool, always.
    fn node<'c>(&'c self, cx: &'c Context, pool: &str) -> Result<Node<'c>> {
        let place = self.config.nodes.iter().find(|n| n.pool == pool).ok_or_else(|| {
            DriverError::unsupported(format!("the option `nodes` names no pool `{pool}`")).for_user("The storage pool is not configured.")
        })?;
        Ok(Node::new(cx, place))
    }
}

impl Driver for Linux {
    fn info() -> DriverInfo {
        DriverInfo::new("linux", "Stowage", env!("CARGO_PKG_VERSION"))
    }
    fn options() -> Vec<OptionSpec> {
        options::all()
    }
    fn open(cx: &Context) -> Result<Self> {
        Ok(Self { config: Config::read(cx)? })
    }
    fn init(&self, cx: &Context) -> Result<()> {
        self.start(cx)
    }
    fn report(&self, cx: &Context) -> Result<CapabilityReport> {
        Ok(self.look(cx))
    }
}

export!(
    Linux: volumes,
    volume_clone,
    volume_from_snapshot,
    volume_snapshots,
    volume_revert,
    volume_retype,
    volume_manage,
    connection_info,
);
