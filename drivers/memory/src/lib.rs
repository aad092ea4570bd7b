//! `memory`: a complete fake array, for demonstrations and tests.
//!
//! It has every interface of the contract. Its state lives in the back end's `kv`, or, with the option `array_url`, in an HTTP
//! array outside the service ([`array`]). What it says it can do, how much room it has and what goes wrong is configuration
//! ([`options`], [`faults`]), so that each behaviour of the host can be provoked.
//!
//! It keeps the contract's promises as a real driver must: objects are named by the host's ids, every verb may be repeated,
//! room is counted exactly. No data is stored; a *content* mark travels along volumes, snapshots and clones instead, so
//! that a test can tell what a copy was made of.

mod array;
mod block;
mod faults;
mod foreign;
mod options;
mod pools;
mod share;
#[cfg(test)]
mod tests;

use stowage_driver_sdk::prelude::*;

use crate::{
    array::{Array, http::HttpArray, kv::KvArray},
    options::Config,
};

struct Memory {
    config: Config,
}

impl Memory {
    /// Where the objects are.
    fn array<'c>(&'c self, cx: &'c Context) -> Box<dyn Array + 'c> {
        match &self.config.array_url {
            Some(url) => Box::new(HttpArray::new(cx, url, self.config.array_user.as_deref())),
            None => Box::new(KvArray::new(cx)),
        }
    }
}

impl Driver for Memory {
    fn info() -> DriverInfo {
        DriverInfo::new("memory", "Stowage", env!("CARGO_PKG_VERSION"))
    }
    fn options() -> Vec<OptionSpec> {
        options::all()
    }
    fn open(cx: &Context) -> Result<Self> {
        Ok(Self { config: Config::read(cx)? })
    }
    fn init(&self, cx: &Context) -> Result<()> {
        self.verb(cx, "", "", |_| {
            // An array that does not answer keeps the driver out of service.
            self.array(cx).used().map(drop)
        })
    }
    fn report(&self, cx: &Context) -> Result<CapabilityReport> {
        self.verb(cx, "", "", |plan| {
            let used = self.array(cx).used()?;
            let mut pools: Vec<Pool> = self.config.pools.iter().map(|p| p.report(used.get(&p.name).copied().unwrap_or_default())).collect();
            if plan.lie {
                pools.iter_mut().for_each(|p| (p.total, p.free) = (Capacity::Gib(1.0), Capacity::Gib(2.0)));
            }
            let mut extra = self.config.extra.clone();
            if !self.config.replication_targets.is_empty() {
                extra.push(Property::new("replication_targets", self.config.replication_targets.clone()));
            }
            Ok(CapabilityReport { features: self.config.features.clone(), pools, extra })
        })
    }
}

export!(
    Memory: poll,
    volumes,
    volume_clone,
    volume_from_snapshot,
    volume_snapshots,
    volume_revert,
    volume_retype,
    volume_manage,
    volume_replication,
    connection_info,
    shares,
    share_shrink,
    share_from_snapshot,
    share_snapshots,
    snapshot_access,
    share_revert,
    share_manage,
    share_snapshot_manage,
    access,
    ensure,
    share_servers,
    share_server_manage,
    share_server_migration,
    allocations,
);
