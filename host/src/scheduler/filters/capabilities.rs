//! The pool has what the type's extra specs ask, and can grow an attached volume if that is asked.

use std::borrow::Cow;

use serde_json::Value;

use super::{Context, Filter, Reason};
use crate::{
    scheduler::{
        explain::Limit,
        pools::Candidate,
        request::PlacementRequest,
        spec_match::{self, Dialect},
    },
    store::sql::{backends::BackendKind, capacity_claims::Operation},
};

pub struct Capabilities;

/// Manila's well-known boolean specs: without an operator they are compared as booleans.
const SHARE_BOOLEANS: [&str; 6] = [
    "driver_handles_share_servers",
    "snapshot_support",
    "create_share_from_snapshot_support",
    "revert_to_snapshot_support",
    "mount_snapshot_support",
    "mount_point_name_support",
];

impl Filter for Capabilities {
    fn name(&self) -> &'static str {
        "CapabilitiesFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Capabilities
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let request = cx.request;
        if request.operation == Operation::Extend && request.attached && !pool.flag("online_extend_support", true) {
            return Err(
                Reason::new("the volume is attached and the pool cannot grow attached volumes").with("online_extend_support", false)
            );
        }
        let dialect = match request.service {
            BackendKind::Block => Dialect::Block,
            BackendKind::Share => Dialect::Share,
        };
        for (key, spec) in specs(request) {
            let Some(path) = spec_match::capability_path(&key) else { continue };
            let Some(found) = lookup(pool, &path) else {
                return Err(Reason::new(format!("the type asks {key} `{spec}`, the pool does not report it")).with(&key, Value::Null));
            };
            if !spec_match::satisfies(found, &spec, dialect) {
                return Err(Reason::new(format!("the type asks {key} `{spec}`, the pool reports {found}")).with(&key, found.clone()));
            }
        }
        Ok(())
    }
}

/// A key of the pool's dictionary, nested keys step by step.
fn lookup<'p>(pool: &'p Candidate, path: &[&str]) -> Option<&'p Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(pool.capabilities.get(*first)?, |value, key| value.get(*key))
}

/// The specs that count: for shares with the rewriting that the service does.
fn specs(request: &PlacementRequest) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let borrowed = request.extra_specs.iter().map(|(k, v)| (Cow::from(k.as_str()), Cow::from(v.as_str())));
    if request.service == BackendKind::Block {
        return borrowed.collect();
    }
    let plain = |key: &str| key.trim_start_matches("capabilities:").to_owned();
    let mut all: Vec<_> = borrowed
        .filter(|(key, _)| plain(key) != "availability_zones")
        .map(|(key, spec)| {
            let needs_operator = SHARE_BOOLEANS.contains(&plain(&key).as_str()) && !spec.trim_start().starts_with('<');
            let spec = if needs_operator { Cow::from(format!("<is> {spec}")) } else { spec };
            (key, spec)
        })
        .collect();
    if let Some(protocol) = &request.share.protocol
        && !all.iter().any(|(key, _)| plain(key) == "storage_protocol")
    {
        all.push((Cow::from("storage_protocol"), Cow::from(format!("<in> {protocol}"))));
    }
    all
}
