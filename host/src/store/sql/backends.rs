//! Back ends: what the configuration says of them, what an operator switched, and what their drivers last reported.
//!
//! One row a back end, named `host@backend` whichever process serves it. The row outlives the configuration while
//! resources lie there. `up` is the last word of the stats loop; a report that is too old counts as down, see
//! [`BackendRow::state`].

use std::time::Duration;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    clock::{self, Micros},
    store::{Store, StoreError, StoreResult, Tx, on_read, on_tx},
};

/// Which of the two services a back end belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    #[default]
    Block,
    Share,
}

impl BackendKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Share => "share",
        }
    }
}

impl TryFrom<String> for BackendKind {
    type Error = StoreError;
    fn try_from(text: String) -> StoreResult<Self> {
        match text.as_str() {
            "block" => Ok(Self::Block),
            "share" => Ok(Self::Share),
            _ => Err(StoreError::Corrupt(format!("back end kind `{text}`"))),
        }
    }
}

/// A back end's section of the configuration, as far as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendConfig {
    /// `host@backend`.
    pub host: String,
    pub kind: BackendKind,
    pub driver: String,
    /// What users see as `backend_name`; none gives the back end a UUID of its own, once and for all.
    pub backend_id: Option<String>,
    pub availability_zone: String,
    /// Back ends over one physical pool name the same group.
    pub capacity_group: Option<String>,
    /// The section says `enabled = false`.
    pub disabled: bool,
}

/// The `disabled_reason` of a back end that its section switches off; an operator's own switch has another.
pub const DISABLED_BY_CONFIGURATION: &str = "disabled in the configuration";

/// A back end.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct BackendRow {
    pub host: String,
    #[sqlx(try_from = "String")]
    pub kind: BackendKind,
    pub driver: String,
    pub backend_name: String,
    pub backend_id_given: bool,
    pub service_uuid: String,
    pub availability_zone: String,
    pub capacity_group: Option<String>,
    pub configured: bool,
    pub enabled: bool,
    pub disabled_reason: Option<String>,
    pub frozen: bool,
    /// None: as its driver reports it.
    pub replication_status: Option<String>,
    /// The target that serves its volumes; none: its own array.
    pub active_backend_id: Option<String>,
    /// Why the last fail-over did not go as it should.
    pub replication_reason: Option<String>,
    pub up: bool,
    pub state_reason: Option<String>,
    pub state_changed_at: Micros,
    pub capabilities: String,
    pub multiattach: Option<bool>,
    pub shared_targets: Option<String>,
    pub report_began_at: Option<Micros>,
    pub reported_at: Option<Micros>,
    pub report_due_at: Micros,
    pub created_at: Micros,
    pub updated_at: Micros,
}

/// A report this much overdue counts as none: nobody serves the back end any more.
pub const SILENCE: Duration = Duration::from_secs(120);

impl BackendRow {
    /// The part after `@`.
    pub fn name(&self) -> &str {
        self.host.split_once('@').map_or(&self.host, |(_, name)| name)
    }
    /// Up, or why not.
    pub fn state(&self, now: Micros) -> Result<(), String> {
        up_state(self.configured, self.up, self.state_reason.as_deref(), self.report_due_at.max(self.reported_at.unwrap_or(0)), now)
    }
    /// How its replication stands: `disabled` where the driver has none.
    pub fn replication_status(&self) -> &str {
        let reported = || if self.capabilities().get("replication_enabled") == Some(&Value::Bool(true)) { "enabled" } else { "disabled" };
        self.replication_status.as_deref().unwrap_or_else(reported)
    }
    /// Back-end level capabilities as the driver reported them.
    pub fn capabilities(&self) -> Map<String, Value> {
        serde_json::from_str(&self.capabilities).unwrap_or_default()
    }
    /// The value its volumes carry: true, the safe one, before the first report; none for NVMe-oF.
    pub fn shared_targets(&self) -> Option<bool> {
        shared_targets_value(self.shared_targets.as_deref())
    }
}

pub(super) fn shared_targets_value(text: Option<&str>) -> Option<bool> {
    match text {
        Some("false") => Some(false),
        Some("none") => None,
        _ => Some(true),
    }
}

/// The opposite of [`BackendRow::shared_targets`]: how the column spells a volume's value.
pub fn shared_targets_text(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "true",
        Some(false) => "false",
        None => "none",
    }
}

pub(super) fn up_state(configured: bool, up: bool, reason: Option<&str>, due_at: Micros, now: Micros) -> Result<(), String> {
    if !configured {
        return Err("it is no longer in the configuration".to_owned());
    }
    if !up {
        return Err(reason.unwrap_or("it has not reported yet").to_owned());
    }
    let overdue = now - due_at;
    if overdue > clock::micros(SILENCE) {
        return Err(format!("its report is {} s overdue: no process serves it", overdue / 1_000_000));
    }
    Ok(())
}

/// Whether multi-attach volumes can be placed at all, from stored reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MultiattachSupport {
    /// At least one enabled back end reports it.
    Reported,
    /// Every enabled back end has reported, and none has it.
    Refused,
    /// None reports it so far, and at least one has not reported yet (or there is none).
    NotKnown,
}

const COLUMNS: &str = "host, kind, driver, backend_name, backend_id_given, service_uuid, availability_zone, capacity_group, configured, \
     enabled, disabled_reason, frozen, replication_status, active_backend_id, replication_reason, up, state_reason, state_changed_at, \
     capabilities, multiattach, shared_targets, report_began_at, reported_at, report_due_at, created_at, updated_at";

impl Store {
    /// Back ends of one kind, or all, by name: the configured ones, and those gone on which resources remain.
    pub async fn backends(&self, kind: Option<BackendKind>) -> StoreResult<Vec<BackendRow>> {
        let sql = concat_columns("SELECT {} FROM backends WHERE ($1 IS NULL OR kind = $1) ORDER BY host");
        let kind = kind.map(BackendKind::as_str);
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(kind).fetch_all(p).await?))
    }

    /// The back end `host@backend`.
    pub async fn backend(&self, host: &str) -> StoreResult<Option<BackendRow>> {
        let sql = concat_columns("SELECT {} FROM backends WHERE host = $1");
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(host).fetch_optional(p).await?))
    }

    /// Whether any enabled back end for volumes reports multi-attach. One look at a table with a row a back end.
    pub async fn reported_multiattach(&self) -> StoreResult<MultiattachSupport> {
        let sql = "SELECT COUNT(*), COUNT(multiattach), CAST(COALESCE(SUM(CASE WHEN multiattach THEN 1 ELSE 0 END), 0) AS BIGINT) \
                   FROM backends WHERE kind = 'block' AND enabled AND configured";
        let (all, known, with): (i64, i64, i64) = on_read!(self, p => sqlx::query_as(sql).fetch_one(p).await?);
        Ok(match (all, known, with) {
            (_, _, 1..) => MultiattachSupport::Reported,
            (1.., ..) if all == known => MultiattachSupport::Refused,
            _ => MultiattachSupport::NotKnown,
        })
    }

    /// The database's clock: what the beginning of a report call is measured with.
    pub async fn now(&self) -> StoreResult<Micros> {
        let (now,): (Micros,) = on_read!(self, p => sqlx::query_as(self.dialect().sql("SELECT {now}")).fetch_one(p).await?);
        Ok(now)
    }
}

fn concat_columns(text: &str) -> String {
    text.replace("{}", COLUMNS)
}

impl Tx {
    /// Adds a back end, or brings its row in line with the configuration. What an operator switched stays.
    pub async fn configure_backend(&mut self, c: &BackendConfig) -> StoreResult<()> {
        let now = clock::now();
        let given = c.backend_id.is_some();
        let name = c.backend_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        // a back end without a configured id keeps the UUID it was given at first
        let sql = "INSERT INTO backends (host, kind, driver, backend_name, backend_id_given, service_uuid, availability_zone, capacity_group, \
                       configured, enabled, disabled_reason, frozen, up, state_changed_at, capabilities, report_due_at, created_at, updated_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, TRUE, NOT $10, CASE WHEN $10 THEN $11 END, FALSE, FALSE, $9, '{}', 0, $9, $9) \
                   ON CONFLICT (host) DO UPDATE SET kind = excluded.kind, driver = excluded.driver, \
                       backend_name = CASE WHEN excluded.backend_id_given OR backends.backend_id_given THEN excluded.backend_name ELSE backends.backend_name END, \
                       service_uuid = CASE WHEN excluded.backend_id_given OR backends.backend_id_given THEN excluded.service_uuid ELSE backends.service_uuid END, \
                       backend_id_given = excluded.backend_id_given, availability_zone = excluded.availability_zone, \
                       enabled = CASE WHEN NOT excluded.enabled THEN FALSE WHEN backends.disabled_reason = $11 THEN TRUE ELSE backends.enabled END, \
                       disabled_reason = CASE WHEN NOT excluded.enabled THEN $11 WHEN backends.disabled_reason = $11 THEN NULL \
                           ELSE backends.disabled_reason END, \
                       capacity_group = excluded.capacity_group, configured = TRUE, updated_at = excluded.updated_at";
        on_tx!(self, t => sqlx::query(sql)
            .bind(&c.host).bind(c.kind.as_str()).bind(&c.driver).bind(&name).bind(given).bind(service_uuid(&name))
            .bind(&c.availability_zone).bind(&c.capacity_group).bind(now).bind(c.disabled).bind(DISABLED_BY_CONFIGURATION)
            .execute(t).await?.rows_affected());
        if let Some(group) = &c.capacity_group {
            let sql = "INSERT INTO capacity_groups (name, turns) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING";
            on_tx!(self, t => sqlx::query(sql).bind(group).execute(t).await?.rows_affected());
        }
        self.move_claims(&c.host, c.capacity_group.as_deref()).await
    }

    /// Marks every back end of this kind that is not in `hosts` as gone; those without resources vanish.
    pub async fn retire_backends_except(&mut self, kind: BackendKind, hosts: &[String]) -> StoreResult<Vec<String>> {
        let sql = "SELECT host FROM backends WHERE kind = $1 AND configured ORDER BY host";
        let known: Vec<(String,)> = on_tx!(self, t => sqlx::query_as(sql).bind(kind.as_str()).fetch_all(t).await?);
        let gone: Vec<String> = known.into_iter().map(|(h,)| h).filter(|h| !hosts.contains(h)).collect();
        for host in &gone {
            let sql = "UPDATE backends SET configured = FALSE, up = FALSE, state_reason = NULL, state_changed_at = $2, updated_at = $2 WHERE host = $1";
            on_tx!(self, t => sqlx::query(sql).bind(host).bind(clock::now()).execute(t).await?.rows_affected());
            // whoever is placing something there ends first, or finds no pool
            let sql = "UPDATE pools SET resources = resources WHERE host = $1";
            on_tx!(self, t => sqlx::query(sql).bind(host).execute(t).await?.rows_affected());
            let sql = "DELETE FROM backends WHERE host = $1 AND NOT EXISTS (SELECT 1 FROM pools WHERE host = $1 AND resources > 0)";
            on_tx!(self, t => sqlx::query(sql).bind(host).execute(t).await?.rows_affected());
        }
        Ok(gone)
    }

    /// A back end as it stands in this transaction.
    pub(super) async fn backend(&mut self, host: &str) -> StoreResult<Option<BackendRow>> {
        let sql = concat_columns("SELECT {} FROM backends WHERE host = $1");
        Ok(on_tx!(self, t => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(host).fetch_optional(t).await?))
    }

    /// A back end as it is, and stays until this transaction ends.
    pub async fn backend_kept(&mut self, host: &str) -> StoreResult<Option<BackendRow>> {
        let sql = concat_columns(&self.dialect().expand("SELECT {} FROM backends WHERE host = $1 {for_share}"));
        Ok(on_tx!(self, t => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(host).fetch_optional(t).await?))
    }

    /// Enables or disables placement on a back end. False: no such back end.
    pub async fn set_backend_enabled(&mut self, host: &str, enabled: bool, reason: Option<&str>) -> StoreResult<bool> {
        let sql = "UPDATE backends SET enabled = $2, disabled_reason = $3, updated_at = $4 WHERE host = $1";
        let done =
            on_tx!(self, t => sqlx::query(sql).bind(host).bind(enabled).bind(reason).bind(clock::now()).execute(t).await?.rows_affected());
        Ok(done > 0)
    }

    /// Freezes or thaws a back end: a frozen one is given nothing new. False: no such back end.
    pub async fn set_backend_frozen(&mut self, host: &str, frozen: bool) -> StoreResult<bool> {
        let sql = "UPDATE backends SET frozen = $2, updated_at = $3 WHERE host = $1";
        let done = on_tx!(self, t => sqlx::query(sql).bind(host).bind(frozen).bind(clock::now()).execute(t).await?.rows_affected());
        Ok(done > 0)
    }

    /// Marks a back end as down, for a reason that an operator can read. Its figures stay. Not when another process had an
    /// answer: the last report began after `ours`, and came after `silent_since`. False: so it is, or there is no such back end.
    pub async fn mark_backend_down(&mut self, host: &str, reason: &str, ours: Micros, silent_since: Micros) -> StoreResult<bool> {
        let sql = "UPDATE backends SET state_changed_at = CASE WHEN up THEN $3 ELSE state_changed_at END, up = FALSE, state_reason = $2 \
                   WHERE host = $1 AND (report_began_at IS NULL OR report_began_at <= $4 OR reported_at IS NULL OR reported_at < $5)";
        let bound = on_tx!(self, t => sqlx::query(sql).bind(host).bind(reason).bind(clock::now()).bind(ours).bind(silent_since).execute(t).await?.rows_affected());
        Ok(bound > 0)
    }

    /// Whether an enabled back end's report is still to come: it never reported, or not since nobody served it, and has not
    /// been found to be down.
    pub(crate) async fn awaits_reports(&mut self, kind: BackendKind) -> StoreResult<bool> {
        let sql = "SELECT COUNT(*) FROM backends WHERE kind = $1 AND configured AND enabled AND state_reason IS NULL AND \
                       (reported_at IS NULL OR (reported_at < $2 AND report_due_at < $2))";
        let silent = clock::now() - clock::micros(SILENCE);
        let (n,): (i64,) = on_tx!(self, t => sqlx::query_as(sql).bind(kind.as_str()).bind(silent).fetch_one(t).await?);
        Ok(n > 0)
    }

    /// Takes the turn to ask this back end for its periodic report: of all processes, one gets true.
    pub async fn take_report_turn(&mut self, host: &str, interval: Duration) -> StoreResult<bool> {
        let sql =
            self.dialect().sql("UPDATE backends SET report_due_at = {now} + $2 WHERE host = $1 AND configured AND report_due_at <= {now}");
        let done = on_tx!(self, t => sqlx::query(sql).bind(host).bind(clock::micros(interval)).execute(t).await?.rows_affected());
        Ok(done > 0)
    }
}

/// A back end's `service_uuid`: its id if that is a UUID, else a UUIDv5 of it, the same in every process.
pub fn service_uuid(backend_id: &str) -> String {
    Uuid::parse_str(backend_id).unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, backend_id.as_bytes())).to_string()
}
