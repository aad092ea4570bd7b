//! Made back ends and pools.

use serde_json::{Map, Value, json};
use stowage::{
    clock,
    scheduler::{
        BackendConfig, BackendKind, BackendReport, Limit, NoValidBackend, Placed, PlacementRequest, PoolReport, PoolRow, ReportStored,
        capacity::Capacity::Gib, decide, filters::Context, place,
    },
    store::Store,
};

pub fn config(name: &str) -> BackendConfig {
    BackendConfig {
        host: format!("stowage@{name}"),
        kind: BackendKind::Block,
        driver: "memory".to_owned(),
        backend_id: None,
        availability_zone: "nova".to_owned(),
        capacity_group: None,
        disabled: false,
    }
}

/// A thick pool.
pub fn pool(name: &str, total: f64, free: f64) -> PoolReport {
    PoolReport {
        name: name.to_owned(),
        available: true,
        total: Gib(total),
        free: Gib(free),
        provisioned_gib: None,
        reserved_percentage: 0,
        reserved_snapshot_percentage: 0,
        reserved_extend_percentage: 0,
        max_over_subscription: None,
        thin: false,
        thick: true,
        capabilities: Map::new(),
    }
}

pub fn report(host: &str, began_at: i64, pools: Vec<PoolReport>) -> BackendReport {
    BackendReport {
        host: host.to_owned(),
        incarnation: "i".to_owned(),
        began_at,
        multiattach: false,
        shared_targets: Some(true),
        capabilities: Map::new(),
        pools,
    }
}

/// Configures a back end without a report.
pub async fn configure(store: &Store, config: &BackendConfig) {
    let mut tx = store.begin().await.unwrap();
    tx.configure_backend(config).await.unwrap();
    tx.commit().await.unwrap();
}

/// A back end that is up, with one report that began now.
pub async fn up(store: &Store, config: &BackendConfig, pools: Vec<PoolReport>) {
    configure(store, config).await;
    let now = store.now().await.unwrap();
    let stored = store_report(store, &report(&config.host, now, pools)).await;
    assert_ne!(stored, ReportStored::Stale);
}

pub async fn store_report(store: &Store, report: &BackendReport) -> ReportStored {
    let mut tx = store.begin().await.unwrap();
    let stored = tx.store_report(report).await.unwrap();
    tx.commit().await.unwrap();
    stored
}

/// A report of one pool whose call begins now, after everything settled so far.
pub async fn report_now(store: &Store, host: &str, pool: PoolReport) {
    tokio::time::sleep(std::time::Duration::from_millis(3)).await; // SQLite's clock counts milliseconds
    let now = store.now().await.unwrap();
    store_report(store, &report(host, now, vec![pool])).await;
}

pub fn volume(id: &str, gib: i64) -> PlacementRequest {
    PlacementRequest {
        request_id: "req-1".to_owned(),
        resource_kind: "volume",
        resource_id: id.to_owned(),
        project_id: "p".to_owned(),
        size_gib: gib,
        ..PlacementRequest::default()
    }
}

/// Places in a transaction of its own.
pub async fn placed(store: &Store, request: &PlacementRequest) -> Result<Placed, NoValidBackend> {
    let mut tx = store.begin().await.unwrap();
    let answer = place(&mut tx, request).await.unwrap();
    tx.commit().await.unwrap();
    answer
}

pub async fn settle(store: &Store, id: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.settle_claim(id).await.unwrap();
    tx.commit().await.unwrap();
}

pub async fn release(store: &Store, id: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.release_claim(id).await.unwrap();
    tx.commit().await.unwrap();
}

pub async fn forget(store: &Store, id: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.forget_claim(id).await.unwrap();
    tx.commit().await.unwrap();
}

/// A pool's row as stored.
pub async fn pool_row(store: &Store, name: &str) -> PoolRow {
    let host = name.split('#').next().unwrap();
    store.pools_of(host).await.unwrap().into_iter().find(|p| p.name == name).unwrap()
}

/// A pool's row made up: thick, 100 GiB, everything well.
pub fn row(name: &str) -> PoolRow {
    PoolRow {
        name: name.to_owned(),
        host: name.split('#').next().unwrap().to_owned(),
        capacity_key: name.to_owned(),
        present: true,
        available: true,
        total: Gib(100.0),
        free: Gib(100.0),
        provisioned_gib: 0.0,
        provisioned_given: true,
        reserved_percentage: 0,
        reserved_snapshot_percentage: 0,
        reserved_extend_percentage: 0,
        max_over_subscription: None,
        thin: false,
        thick: true,
        capabilities: "{}".to_owned(),
        claimed_gib: 0,
        allocated_gib: 0,
        resources: 0,
        reported_at: clock::now(),
        kind: BackendKind::Block,
        driver: "memory".to_owned(),
        backend_name: "name".to_owned(),
        service_uuid: "uuid".to_owned(),
        availability_zone: "nova".to_owned(),
        capacity_group: None,
        configured: true,
        enabled: true,
        disabled_reason: None,
        frozen: false,
        up: true,
        state_reason: None,
        shared_targets: None,
        report_due_at: clock::now(),
    }
}

pub fn with_capabilities(row: PoolRow, capabilities: Value) -> PoolRow {
    PoolRow { capabilities: capabilities.to_string(), ..row }
}

/// What the pure part says: pools that pass, best first; (pool, filter, reason) of the others; the limit.
pub fn verdict(rows: Vec<PoolRow>, request: &PlacementRequest) -> (Vec<String>, Vec<(String, String, String)>, Limit) {
    verdict_near(rows, request, &[], &[])
}

/// As [`verdict`], with the back ends on which hinted resources lie.
pub fn verdict_near(
    rows: Vec<PoolRow>,
    request: &PlacementRequest,
    same: &[String],
    different: &[String],
) -> (Vec<String>, Vec<(String, String, String)>, Limit) {
    let cx = Context { request, same, different, now: clock::now() };
    let (ranked, rejected, limit) = decide(rows, &cx);
    let ranked = ranked.into_iter().map(|(pool, _)| pool.row.name).collect();
    let rejected = rejected.into_iter().map(|r| (r.pool, r.filter, r.reason)).collect();
    (ranked, rejected, limit)
}

pub fn specs<const N: usize>(pairs: [(&str, &str); N]) -> std::collections::BTreeMap<String, String> {
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

pub fn capability(key: &str, value: impl Into<Value>) -> Value {
    json!({ key: value.into() })
}
