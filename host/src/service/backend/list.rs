//! Every back end with its pools, as an operator needs them to see why nothing is placed.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    app::App,
    clock,
    driver::catalog::BackendStatus,
    error::Result,
    scheduler::capacity,
    store::sql::{
        backends::{BackendKind, BackendRow},
        pools::PoolRow,
    },
};

/// A back end.
#[derive(Debug, Clone, Serialize)]
pub struct BackendView {
    pub host: String,
    pub name: String,
    pub kind: BackendKind,
    pub driver: String,
    pub backend_name: String,
    pub service_uuid: String,
    pub availability_zone: String,
    pub capacity_group: Option<String>,
    /// `up` or `down`.
    pub state: &'static str,
    /// Why it is down.
    pub reason: Option<String>,
    pub since: String,
    pub enabled: bool,
    pub disabled_reason: Option<String>,
    pub frozen: bool,
    /// Of volumes: `disabled`, `enabled`, `failing-over`, `failed-over`, `failover-error`.
    pub replication_status: Option<String>,
    /// The replication target that serves it; none: its own array.
    pub active_backend_id: Option<String>,
    /// Why the last fail-over did not go as it should.
    pub replication_reason: Option<String>,
    pub configured: bool,
    /// None: it has not reported yet.
    pub multiattach: Option<bool>,
    pub shared_targets: Option<bool>,
    pub report_began_at: Option<String>,
    pub reported_at: Option<String>,
    pub pools: Vec<PoolView>,
}

/// A pool. Sizes in GiB.
#[derive(Debug, Clone, Serialize)]
pub struct PoolView {
    pub name: String,
    /// The newest report has it.
    pub present: bool,
    /// The driver takes new objects.
    pub available: bool,
    pub total: Value,
    pub free: Value,
    /// Given since the report, and not shown by it yet.
    pub claimed: i64,
    pub allocated: i64,
    pub provisioned: Value,
    pub resources: i64,
    pub capabilities: Map<String, Value>,
}

/// All of them, by kind and name.
///
/// # Errors
/// The store's.
pub async fn list(app: &App) -> Result<Vec<BackendView>> {
    let store = &app.store;
    let here = app.drivers.backend_status();
    let mut views = Vec::new();
    for kind in [BackendKind::Block, BackendKind::Share] {
        let pools = store.pools(kind).await?;
        for row in store.backends(Some(kind)).await? {
            let own = pools.iter().filter(|p| p.host == row.host).map(pool).collect();
            let status = here.iter().find(|b| b.host == row.host);
            views.push(backend(row, own, status));
        }
    }
    Ok(views)
}

fn backend(row: BackendRow, pools: Vec<PoolView>, here: Option<&BackendStatus>) -> BackendView {
    let state = row.state(clock::now());
    let reason = state.as_ref().err().cloned();
    let replication_status = (row.kind == BackendKind::Block).then(|| row.replication_status().to_owned());
    // one that does not open here has nothing to report, and that is why
    let unopened = here.filter(|_| row.reported_at.is_none() && row.state_reason.is_none()).and_then(|b| b.reason.clone());
    BackendView {
        name: row.name().to_owned(),
        state: if state.is_ok() { "up" } else { "down" },
        reason: reason.map(|r| unopened.unwrap_or(r)),
        since: clock::utc_text(row.state_changed_at),
        shared_targets: row.shared_targets(),
        report_began_at: row.report_began_at.map(clock::utc_text),
        reported_at: row.reported_at.map(clock::utc_text),
        host: row.host,
        kind: row.kind,
        driver: row.driver,
        backend_name: row.backend_name,
        service_uuid: row.service_uuid,
        availability_zone: row.availability_zone,
        capacity_group: row.capacity_group,
        enabled: row.enabled,
        disabled_reason: row.disabled_reason,
        frozen: row.frozen,
        replication_status,
        active_backend_id: row.active_backend_id,
        replication_reason: row.replication_reason,
        configured: row.configured,
        multiattach: row.multiattach,
        pools,
    }
}

fn pool(row: &PoolRow) -> PoolView {
    PoolView {
        name: row.name.clone(),
        present: row.present,
        available: row.available,
        total: row.total.json(),
        free: row.free.json(),
        claimed: row.claimed_gib,
        allocated: row.allocated_gib,
        provisioned: capacity::number(row.provisioned()),
        resources: row.resources,
        capabilities: row.capabilities(),
    }
}
