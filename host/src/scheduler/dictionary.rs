//! A driver's typed report as the dictionaries that the released services show and match extra specs with.
//!
//! Pure. Typed fields win over whatever a driver puts beside them; a key `a:b` becomes a nested one.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    capacity::{self, Capacity, Ratio},
    functions::{FILTER, GOODNESS},
};
use crate::{
    clock::Micros,
    config::{BackendKind, SchedulerConfig},
    driver::{
        Backend, CapabilityReport,
        capability::{BlockProtocol, Features, Pool, ShareServerMode},
        types::{self, IpVersion, ShareProtocol},
    },
    store::sql::pools::{BackendReport, PoolReport},
};

/// What is stored of a report whose call began at `began_at`.
pub fn stored(backend: &Backend, report: &CapabilityReport, began_at: Micros, config: &SchedulerConfig) -> BackendReport {
    let kind = backend.config.kind;
    let mut capabilities = Map::new();
    extend(&mut capabilities, &report.extra);
    let typed = match kind {
        BackendKind::Block => block_level(backend, report),
        BackendKind::Share => share_level(backend, &report.features),
    };
    capabilities.extend(typed);
    BackendReport {
        host: backend.host.clone(),
        incarnation: backend.incarnation(),
        began_at,
        multiattach: report.pools.iter().any(|p| report.multiattach(p)),
        shared_targets: report.features.volume_shared_targets(),
        capabilities,
        pools: report.pools.iter().map(|p| pool(backend, report, p, config)).collect(),
    }
}

fn pool(backend: &Backend, report: &CapabilityReport, pool: &Pool, config: &SchedulerConfig) -> PoolReport {
    let kind = backend.config.kind;
    let mut capabilities = Map::new();
    extend(&mut capabilities, &pool.extra);
    for (key, of_driver, of_operator) in [
        (FILTER, &pool.filter_function, &backend.config.filter_function),
        (GOODNESS, &pool.goodness_function, &backend.config.goodness_function),
    ] {
        // the operator's word counts before the driver's, and a typed one before one among the free keys
        let chosen = Some(of_operator).filter(|f| !f.is_empty()).or(of_driver.as_ref());
        if let Some(function) = chosen {
            capabilities.insert(key.to_owned(), json!(function));
        } else if !capabilities.get(key).is_some_and(Value::is_string) {
            capabilities.insert(key.to_owned(), Value::Null);
        }
    }
    if kind == BackendKind::Block {
        capabilities.insert("multiattach".to_owned(), json!(report.multiattach(pool)));
        capabilities.insert("online_extend_support".to_owned(), json!(report.online_extend(pool)));
    }
    // a share pool has no infinite capacity
    let capacity = |c| if kind == BackendKind::Share && c == Capacity::Infinite { Capacity::Unknown } else { c };
    let reserved = i64::from(pool.reserved_percentage.unwrap_or_else(|| u32::from(config.reserved_percentage)));
    PoolReport {
        name: pool.name.clone(),
        available: pool.available,
        total: capacity(pool.total),
        free: capacity(pool.free),
        provisioned_gib: pool.provisioned_gib,
        reserved_percentage: reserved,
        reserved_snapshot_percentage: reserved,
        reserved_extend_percentage: reserved,
        max_over_subscription: Some(Ratio::Fixed(pool.max_over_subscription_ratio.unwrap_or(config.max_over_subscription_ratio))),
        thin: pool.thin_provisioning,
        thick: pool.thick_provisioning,
        capabilities,
    }
}

fn block_level(backend: &Backend, report: &CapabilityReport) -> Map<String, Value> {
    let mut all = common(backend);
    let protocols: Vec<&str> =
        report.features.block_protocols.iter().filter_map(|p| BlockProtocol::spellings(p).first().copied()).collect();
    all.extend(object(json!({
        "volume_backend_name": backend.name(),
        "storage_protocol": one_or_many(&protocols),
        "QoS_support": false,
        "replication_enabled": replicates(backend, report),
    })));
    all
}

/// The driver can fail over, and has somewhere to go.
fn replicates(backend: &Backend, report: &CapabilityReport) -> bool {
    let targets = report.extra.get("replication_targets");
    backend.volume_replication().is_some() && matches!(targets, Some(types::Value::Texts(all)) if !all.is_empty())
}

fn share_level(backend: &Backend, features: &Features) -> Map<String, Value> {
    let mut all = common(backend);
    let protocols: Vec<&str> = features.share_protocols.iter().map(share_protocol).collect();
    let servers = match features.share_server_mode {
        ShareServerMode::WithoutServers => json!(false),
        ShareServerMode::WithServers => json!(true),
        ShareServerMode::Either => json!([true, false]),
    };
    let ipv4 = features.ip_versions.is_empty() || features.ip_versions.contains(&IpVersion::V4);
    all.extend(object(json!({
        "share_backend_name": backend.name(),
        "storage_protocol": protocols.join("_"),
        "driver_handles_share_servers": servers,
        "snapshot_support": backend.share_snapshots().is_some(),
        "create_share_from_snapshot_support": backend.share_from_snapshot().is_some(),
        "revert_to_snapshot_support": backend.share_revert().is_some(),
        "mount_snapshot_support": backend.snapshot_access().is_some(),
        "share_server_multiple_subnet_support": features.share_server_multiple_subnet_support,
        "network_allocation_update_support": features.network_allocation_update_support && backend.allocations().is_some(),
        "security_service_update_support": false,
        "max_shares_per_share_server": backend.config.max_shares_per_share_server,
        "max_share_server_size": backend.config.max_share_server_size,
        "ipv4_support": ipv4,
        "ipv6_support": features.ip_versions.contains(&IpVersion::V6),
        "replication_type": null,
        "replication_domain": null,
        "sg_consistent_snapshot_support": null,
        "qos": false,
    })));
    all
}

fn share_protocol(protocol: &ShareProtocol) -> &str {
    match protocol {
        ShareProtocol::Nfs => "NFS",
        ShareProtocol::Cifs => "CIFS",
        ShareProtocol::Cephfs => "CEPHFS",
        ShareProtocol::Glusterfs => "GLUSTERFS",
        ShareProtocol::Hdfs => "HDFS",
        ShareProtocol::Maprfs => "MAPRFS",
        ShareProtocol::Other(name) => name,
    }
}

fn common(backend: &Backend) -> Map<String, Value> {
    object(json!({ "vendor_name": backend.driver.vendor, "driver_version": backend.driver.version }))
}

fn one_or_many(words: &[&str]) -> Value {
    match words {
        [] => json!("unknown"),
        [one] => json!(one),
        several => json!(several),
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A driver's free keys, `a:b` as a nested one.
fn extend(into: &mut Map<String, Value>, extra: &BTreeMap<String, types::Value>) {
    for (key, value) in extra {
        nest(into, key, json_of(value));
    }
}

fn nest(into: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once(':') {
        None => {
            into.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = into.entry(first).or_insert_with(|| Value::Object(Map::new()));
            // a key that is a plain value and has nested ones, too, keeps the plain value
            if let Value::Object(inner) = inner {
                nest(inner, rest, value);
            }
        }
    }
}

fn json_of(value: &types::Value) -> Value {
    match value {
        types::Value::Boolean(b) => json!(b),
        types::Value::Number(n) => capacity::number(*n),
        types::Value::Text(t) => json!(t),
        types::Value::Texts(list) => json!(list),
    }
}
