//! Pools: what the driver last reported of each, and our own figures beside it.
//!
//! Invariants: `claimed_gib` is the sum of the claims (of the whole capacity group) that the pool's report does not
//! cover; `allocated_gib` and `resources` follow `pool_allocations`. They change only in the transactions that change
//! those rows, so that no request ever adds up volumes. A report recomputes `claimed_gib`, from the few claims of the
//! last minute.

use serde_json::{Map, Value};

use super::{
    backends::{BackendKind, shared_targets_text, shared_targets_value, up_state},
    volumes_shared_targets::safety,
};
use crate::{
    clock::{self, Micros},
    scheduler::capacity::{self, Capacity, Ratio, float},
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// A driver's report of one back end, ready to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendReport {
    pub host: String,
    /// Whose report it is ([`Backend::incarnation`](crate::driver::Backend::incarnation)).
    pub incarnation: String,
    /// When the call began, by the database's clock ([`Store::now`]).
    pub began_at: Micros,
    /// Any pool can do it.
    pub multiattach: bool,
    /// What the back end's volumes carry.
    pub shared_targets: Option<bool>,
    /// Back-end level keys.
    pub capabilities: Map<String, Value>,
    pub pools: Vec<PoolReport>,
}

/// One pool of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolReport {
    /// The part after `#`.
    pub name: String,
    /// The driver takes new objects here now.
    pub available: bool,
    pub total: Capacity,
    pub free: Capacity,
    /// None: our own count.
    pub provisioned_gib: Option<f64>,
    pub reserved_percentage: i64,
    pub reserved_snapshot_percentage: i64,
    pub reserved_extend_percentage: i64,
    /// None: the service's option.
    pub max_over_subscription: Option<Ratio>,
    pub thin: bool,
    pub thick: bool,
    /// The pool's keys over the back end's.
    pub capabilities: Map<String, Value>,
}

/// What storing a report did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportStored {
    /// It is the newest now. `shared_targets` is what was stored before, the outer none if nothing was; `was_down`: the back end
    /// was, also because nobody had heard of it for long, or ever.
    Stored { shared_targets_before: Option<Option<bool>>, was_down: bool },
    /// A report whose call began later is stored already, or the back end is not configured; nothing changed.
    Stale,
}

/// A pool with what placement needs to know of its back end.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct PoolRow {
    pub name: String,
    pub host: String,
    pub capacity_key: String,
    pub present: bool,
    pub available: bool,
    #[sqlx(try_from = "String")]
    pub total: Capacity,
    #[sqlx(try_from = "String")]
    pub free: Capacity,
    pub provisioned_gib: f64,
    pub provisioned_given: bool,
    pub reserved_percentage: i64,
    pub reserved_snapshot_percentage: i64,
    pub reserved_extend_percentage: i64,
    pub max_over_subscription: Option<String>,
    pub thin: bool,
    pub thick: bool,
    pub capabilities: String,
    pub claimed_gib: i64,
    pub allocated_gib: i64,
    pub resources: i64,
    pub reported_at: Micros,
    #[sqlx(try_from = "String")]
    pub kind: BackendKind,
    pub driver: String,
    pub backend_name: String,
    pub service_uuid: String,
    pub availability_zone: String,
    pub capacity_group: Option<String>,
    pub configured: bool,
    pub enabled: bool,
    pub disabled_reason: Option<String>,
    pub frozen: bool,
    pub up: bool,
    pub state_reason: Option<String>,
    pub shared_targets: Option<String>,
    pub report_due_at: Micros,
}

impl PoolRow {
    /// Whether the back end is up, or why not.
    pub fn state(&self, now: Micros) -> Result<(), String> {
        up_state(self.configured, self.up, self.state_reason.as_deref(), self.report_due_at.max(self.reported_at), now)
    }
    pub fn shared_targets(&self) -> Option<bool> {
        shared_targets_value(self.shared_targets.as_deref())
    }
    /// What is provisioned, the claims included.
    pub fn provisioned(&self) -> f64 {
        self.provisioned_gib + float(self.claimed_gib)
    }
    /// The dictionary that the APIs show and extra specs are matched with: what the driver said, with our figures.
    pub fn capabilities(&self) -> Map<String, Value> {
        let mut all: Map<String, Value> = serde_json::from_str(&self.capabilities).unwrap_or_default();
        let pool = self.name.split_once('#').map_or(self.name.as_str(), |(_, p)| p);
        let mut set = |key: &str, value: Value| {
            all.insert(key.to_owned(), value);
        };
        set("pool_name", pool.into());
        set("total_capacity_gb", self.total.json());
        set("free_capacity_gb", self.free.json());
        set("allocated_capacity_gb", self.allocated_gib.into());
        set(
            "provisioned_capacity_gb",
            capacity::number(if self.provisioned_given { self.provisioned_gib } else { float(self.allocated_gib) }),
        );
        set("reserved_percentage", self.reserved_percentage.into());
        set("timestamp", clock::api_text(self.reported_at).into());
        let ratio = self.max_over_subscription.clone().unwrap_or_else(|| capacity::DEFAULT_RATIO.to_string());
        match self.kind {
            BackendKind::Block => {
                let usable = self.available && self.present && self.state(clock::now()).is_ok();
                set("backend_state", if usable { "up" } else { "down" }.into());
                set("thin_provisioning_support", self.thin.into());
                set("thick_provisioning_support", self.thick.into());
                set("total_volumes", self.resources.into());
                set("max_over_subscription_ratio", ratio.into());
            }
            BackendKind::Share => {
                set("thin_provisioning", if self.thin && self.thick { vec![true, false].into() } else { self.thin.into() });
                set("max_over_subscription_ratio", ratio.parse().map_or(Value::Null, capacity::number));
                set("reserved_snapshot_percentage", self.reserved_snapshot_percentage.into());
                set("reserved_share_extend_percentage", self.reserved_extend_percentage.into());
            }
        }
        all
    }
}

const SELECT: &str = "SELECT p.name, p.host, p.capacity_key, p.present, p.available, p.total, p.free, p.provisioned_gib, p.provisioned_given, \
     p.reserved_percentage, p.reserved_snapshot_percentage, p.reserved_extend_percentage, p.max_over_subscription, p.thin, p.thick, \
     p.capabilities, p.claimed_gib, p.allocated_gib, p.resources, p.reported_at, b.kind, b.driver, b.backend_name, b.service_uuid, \
     b.availability_zone, b.capacity_group, b.configured, b.enabled, b.disabled_reason, b.frozen, b.up, b.state_reason, b.shared_targets, \
     b.report_due_at FROM pools p JOIN backends b ON b.host = p.host";

fn select(rest: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!("{SELECT} {rest}"))
}

impl Store {
    /// Every pool of one service, by name: for `get_pools` and the admin view.
    pub async fn pools(&self, kind: BackendKind) -> StoreResult<Vec<PoolRow>> {
        Ok(on_read!(self, p => sqlx::query_as(select("WHERE b.kind = $1 ORDER BY p.name")).bind(kind.as_str()).fetch_all(p).await?))
    }

    /// The pools of one back end, by name.
    pub async fn pools_of(&self, host: &str) -> StoreResult<Vec<PoolRow>> {
        Ok(on_read!(self, p => sqlx::query_as(select("WHERE p.host = $1 ORDER BY p.name")).bind(host).fetch_all(p).await?))
    }
}

impl Tx {
    /// As [`Store::pools`], inside the transaction.
    pub(crate) async fn placement_pools(&mut self, kind: BackendKind) -> StoreResult<Vec<PoolRow>> {
        Ok(on_tx!(self, t => sqlx::query_as(select("WHERE b.kind = $1 ORDER BY p.name")).bind(kind.as_str()).fetch_all(t).await?))
    }

    /// One pool as it stands inside the transaction.
    pub(crate) async fn placement_pool(&mut self, name: &str) -> StoreResult<Option<PoolRow>> {
        Ok(on_tx!(self, t => sqlx::query_as(select("WHERE p.name = $1")).bind(name).fetch_optional(t).await?))
    }

    /// Stores a report, marks the back end as up, and drops the claims that the report covers.
    pub async fn store_report(&mut self, report: &BackendReport) -> StoreResult<ReportStored> {
        let Some(before) = self.backend(&report.host).await? else { return Ok(ReportStored::Stale) };
        let group = &before.capacity_group;
        if let Some(group) = group {
            self.lock_capacity_group(group).await?;
        }
        if !self.store_backend_level(report).await? {
            return Ok(ReportStored::Stale);
        }
        let gone = "UPDATE pools SET present = FALSE WHERE host = $1";
        on_tx!(self, t => sqlx::query(gone).bind(&report.host).execute(t).await?.rows_affected());
        for pool in &report.pools {
            self.store_pool(report, pool, group.as_deref()).await?;
        }
        let gone = "DELETE FROM pools WHERE host = $1 AND NOT present AND resources = 0";
        on_tx!(self, t => sqlx::query(gone).bind(&report.host).execute(t).await?.rows_affected());
        self.drop_covered_claims(&report.host).await?;
        let shared_targets_before = before.shared_targets.as_deref().map(|text| shared_targets_value(Some(text)));
        Ok(ReportStored::Stored { shared_targets_before, was_down: before.state(clock::now()).is_err() })
    }

    /// What volumes carry becomes less safe only by the word of the incarnation that was swapped in last: the others still
    /// running, here or in another process, know nothing of what it will do.
    async fn store_backend_level(&mut self, report: &BackendReport) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "UPDATE backends SET capabilities = $2, multiattach = $3, shared_targets = CASE WHEN incarnation IS NULL OR incarnation = $6 OR shared_targets IS NULL \
                 OR $7 >= CASE shared_targets WHEN 'false' THEN 0 WHEN 'none' THEN 2 ELSE 1 END THEN $4 ELSE shared_targets END, report_began_at = $5, reported_at = {now}, \
                 state_changed_at = CASE WHEN up THEN state_changed_at ELSE {now} END, up = TRUE, state_reason = NULL \
             WHERE host = $1 AND configured AND (report_began_at IS NULL OR report_began_at <= $5)",
        );
        let capabilities = Value::Object(report.capabilities.clone()).to_string();
        let done = on_tx!(self, t => sqlx::query(sql)
            .bind(&report.host).bind(capabilities).bind(report.multiattach).bind(shared_targets_text(report.shared_targets)).bind(report.began_at)
            .bind(&report.incarnation).bind(safety(report.shared_targets))
            .execute(t).await?.rows_affected());
        Ok(done > 0)
    }

    async fn store_pool(&mut self, report: &BackendReport, pool: &PoolReport, group: Option<&str>) -> StoreResult<()> {
        let name = format!("{}#{}", report.host, pool.name);
        let key = group.unwrap_or(&name).to_owned();
        let sql = self.dialect().sql(
            "INSERT INTO pools (name, host, capacity_key, present, available, total, free, provisioned_gib, provisioned_given, reserved_percentage, \
                 reserved_snapshot_percentage, reserved_extend_percentage, max_over_subscription, thin, thick, capabilities, claimed_gib, \
                 allocated_gib, resources, report_began_at, reported_at) \
             VALUES ($1, $2, $3, TRUE, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, \
                 (SELECT CAST(COALESCE(SUM(gib), 0) AS BIGINT) FROM pool_allocations WHERE pool = $1), \
                 (SELECT COUNT(*) FROM pool_allocations WHERE pool = $1), $16, {now}) \
             ON CONFLICT (name) DO UPDATE SET capacity_key = excluded.capacity_key, present = TRUE, available = excluded.available, total = excluded.total, \
                 free = excluded.free, provisioned_gib = excluded.provisioned_gib, provisioned_given = excluded.provisioned_given, \
                 reserved_percentage = excluded.reserved_percentage, reserved_snapshot_percentage = excluded.reserved_snapshot_percentage, \
                 reserved_extend_percentage = excluded.reserved_extend_percentage, max_over_subscription = excluded.max_over_subscription, \
                 thin = excluded.thin, thick = excluded.thick, capabilities = excluded.capabilities, \
                 report_began_at = excluded.report_began_at, reported_at = excluded.reported_at",
        );
        let mut capabilities = report.capabilities.clone();
        capabilities.extend(pool.capabilities.clone());
        let ratio = pool.max_over_subscription.map(|r| r.to_string());
        on_tx!(self, t => sqlx::query(sql)
            .bind(&name).bind(&report.host).bind(&key).bind(pool.available).bind(pool.total.to_string()).bind(pool.free.to_string())
            .bind(pool.provisioned_gib.unwrap_or(0.0)).bind(pool.provisioned_gib.is_some()).bind(pool.reserved_percentage)
            .bind(pool.reserved_snapshot_percentage).bind(pool.reserved_extend_percentage).bind(ratio).bind(pool.thin).bind(pool.thick)
            .bind(Value::Object(capabilities).to_string()).bind(report.began_at)
            .execute(t).await?.rows_affected());
        self.recount_claims(&name, &key, report.began_at).await
    }

    /// The claims this pool's report does not cover; and, where the driver does not say what is provisioned, our own
    /// count of it without them.
    async fn recount_claims(&mut self, pool: &str, key: &str, began_at: Micros) -> StoreResult<()> {
        let sql = "UPDATE pools SET \
                 claimed_gib = (SELECT CAST(COALESCE(SUM(gib), 0) AS BIGINT) FROM capacity_claims \
                     WHERE capacity_key = $2 AND (settled_at IS NULL OR settled_at >= $3)), \
                 provisioned_gib = CASE WHEN provisioned_given THEN provisioned_gib ELSE CAST(allocated_gib - \
                     (SELECT CAST(COALESCE(SUM(gib), 0) AS BIGINT) FROM capacity_claims \
                      WHERE pool = $1 AND operation <> 'snapshot' AND NOT freed AND (settled_at IS NULL OR settled_at >= $3)) AS DOUBLE PRECISION) END \
             WHERE name = $1";
        on_tx!(self, t => sqlx::query(sql).bind(pool).bind(key).bind(began_at).execute(t).await?.rows_affected());
        Ok(())
    }
}
