//! Runs of ensure: one row a run, at most one unfinished a back end (an index says so), and the fingerprint that the last one
//! left. What a run holds of single shares is in [`ensure_shares`](super::ensure_shares).
//!
//! A run of a back end of shares is about its shares; of a back end of volumes it is about those that are connected, in
//! [`exports`](super::exports).
//!
//! Whoever begins a run or asks whether one is under way takes the back end's turn first ([`Tx::ensure_turn`]).

use std::collections::HashSet;

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct EnsureRun {
    pub id: String,
    /// `host@backend`.
    pub backend: String,
    /// `request`, `repeat`, `change`; of volumes also `start`, `up`.
    pub cause: String,
    pub request_id: String,
    pub project_id: String,
    pub user_id: String,
    /// One more run follows.
    pub repeat_once: bool,
    /// Shares show `ensuring` meanwhile.
    pub changes_status: bool,
    pub prepared: bool,
    pub fingerprint: Option<String>,
    /// Of the back end, when it was prepared; or that with which it shall be.
    pub incarnation: Option<String>,
    /// The share instance, or the volume, up to which every one had its turn.
    pub walked_to: String,
    pub walked: bool,
    /// How often the busy ones had another turn.
    pub rounds: i64,
    pub batch: i64,
    pub total: i64,
    pub unchanged: i64,
    pub updated: i64,
    pub broken: i64,
    pub failed: i64,
    pub left_out: i64,
    pub skipped: i64,
    /// `done`, `given_up`; of volumes also `unsupported`; none while it runs.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    pub started_at: Micros,
    pub ended_at: Option<Micros>,
}

impl EnsureRun {
    /// How many shares had their end.
    pub fn done(&self) -> i64 {
        self.unchanged + self.updated + self.broken + self.failed + self.left_out + self.skipped
    }
}

/// What a run has counted, to be added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EnsureCounts {
    pub unchanged: i64,
    pub updated: i64,
    pub broken: i64,
    pub failed: i64,
    pub left_out: i64,
    pub skipped: i64,
}

/// A run to be begun.
#[derive(Debug, Clone)]
pub struct NewEnsureRun {
    pub id: String,
    pub backend: String,
    pub cause: &'static str,
    pub request_id: String,
    pub project_id: String,
    pub user_id: String,
    pub changes_status: bool,
    /// None: whichever serves where the run is prepared.
    pub incarnation: Option<String>,
    pub batch: i64,
    pub started_at: Micros,
}

const SELECT: &str = "SELECT id, backend, cause, request_id, project_id, user_id, repeat_once, changes_status, prepared, fingerprint, \
     incarnation, walked_to, walked, rounds, batch, total, unchanged, updated, broken, failed, left_out, skipped, outcome, reason, started_at, ended_at FROM ensure_runs";
const LAST: &str = "WHERE backend = $1 ORDER BY CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END, started_at DESC, id LIMIT 1";

impl Store {
    pub async fn ensure_run(&self, id: &str) -> StoreResult<Option<EnsureRun>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    /// The run of a back end that is under way, else its last one.
    pub async fn ensure_last(&self, backend: &str) -> StoreResult<Option<EnsureRun>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} {LAST}"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(backend).fetch_optional(p).await?))
    }

    /// The back ends whose shares are being ensured.
    pub async fn backends_ensuring(&self) -> StoreResult<HashSet<String>> {
        let rows: Vec<(String,)> =
            on_read!(self, p => sqlx::query_as("SELECT backend FROM ensure_runs WHERE ended_at IS NULL").fetch_all(p).await?);
        Ok(rows.into_iter().map(|(b,)| b).collect())
    }

    /// The driver's fingerprint when the shares were ensured last.
    pub async fn ensure_fingerprint(&self, backend: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT fingerprint FROM ensure_fingerprints WHERE backend = $1";
        let row: Option<(String,)> = on_read!(self, p => sqlx::query_as(sql).bind(backend).fetch_optional(p).await?);
        Ok(row.map(|(f,)| f))
    }
}

impl Tx {
    /// Whether any share is on a back end.
    pub async fn has_shares_on(&mut self, backend: &str) -> StoreResult<bool> {
        let sql = "SELECT 1 FROM share_instances WHERE backend = $1 LIMIT 1";
        let row: Option<(i32,)> = on_tx!(self, c => sqlx::query_as(sql).bind(backend).fetch_optional(c).await?);
        Ok(row.is_some())
    }

    /// Holds the back end's row until this transaction ends. False: there is no such back end.
    pub async fn ensure_turn(&mut self, backend: &str) -> StoreResult<bool> {
        let sql = "UPDATE backends SET host = host WHERE host = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(backend).execute(c).await?.rows_affected()) == 1)
    }

    pub async fn ensure_run(&mut self, id: &str) -> StoreResult<Option<EnsureRun>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// The run of a back end that is under way, else its last one.
    pub async fn ensure_last(&mut self, backend: &str) -> StoreResult<Option<EnsureRun>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} {LAST}"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(backend).fetch_optional(c).await?))
    }

    /// The run that is under way.
    pub async fn ensure_running(&mut self, backend: &str) -> StoreResult<Option<EnsureRun>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE backend = $1 AND ended_at IS NULL"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(backend).fetch_optional(c).await?))
    }

    /// A new run over shares, and the end of what is kept of runs that ended before `keep_since`.
    pub async fn ensure_begin(&mut self, run: &NewEnsureRun, keep_since: Micros) -> StoreResult<()> {
        self.run_begin(run, "SELECT COUNT(*) FROM share_instances WHERE backend = $2", keep_since).await
    }

    /// A new run; `total` counts what it is about, on the back end `$2`.
    pub(super) async fn run_begin(&mut self, run: &NewEnsureRun, total: &str, keep_since: Micros) -> StoreResult<()> {
        let sql = "DELETE FROM ensure_runs WHERE backend = $1 AND ended_at < $2";
        on_tx!(self, c => sqlx::query(sql).bind(&run.backend).bind(keep_since).execute(c).await?.rows_affected());
        let sql = format!(
            "INSERT INTO ensure_runs (id, backend, cause, request_id, project_id, user_id, repeat_once, changes_status, prepared, incarnation, \
                 walked_to, walked, rounds, batch, total, unchanged, updated, broken, failed, left_out, skipped, started_at) \
             VALUES ($1, $2, $3, $4, $5, $6, FALSE, $7, FALSE, $10, '', FALSE, 0, $8, ({total}), 0, 0, 0, 0, 0, 0, $9)"
        );
        on_tx!(self, c => sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&run.id).bind(&run.backend).bind(run.cause).bind(&run.request_id).bind(&run.project_id)
            .bind(&run.user_id).bind(run.changes_status).bind(run.batch).bind(run.started_at).bind(&run.incarnation)
            .execute(c).await?.rows_affected());
        Ok(())
    }

    /// One more run follows this one.
    pub async fn ensure_repeat(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "UPDATE ensure_runs SET repeat_once = TRUE WHERE id = $1 AND ended_at IS NULL";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// A run that is not prepared yet shall be with this incarnation.
    pub async fn ensure_begins_with(&mut self, id: &str, incarnation: Option<&str>) -> StoreResult<()> {
        let sql = "UPDATE ensure_runs SET incarnation = COALESCE($2, incarnation) WHERE id = $1 AND NOT prepared";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(incarnation).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The configuration was read again, and this incarnation's driver says this of itself.
    pub async fn ensure_prepared(
        &mut self,
        id: &str,
        incarnation: Option<&str>,
        fingerprint: Option<&str>,
        batch: i64,
        reason: Option<&str>,
    ) -> StoreResult<()> {
        let sql = "UPDATE ensure_runs SET prepared = TRUE, incarnation = $2, fingerprint = $3, batch = $4, reason = $5 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(incarnation).bind(fingerprint).bind(batch).bind(reason)
            .execute(c).await?.rows_affected());
        Ok(())
    }

    /// The run is as it was when it began: nothing said so far counts. The caller has let go of what it held.
    pub async fn ensure_start_over(&mut self, id: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("DELETE FROM ensure_shares WHERE run_id = $1").bind(id).execute(c).await?.rows_affected());
        let sql = "UPDATE ensure_runs SET prepared = FALSE, incarnation = NULL, fingerprint = NULL, walked_to = '', walked = FALSE, rounds = 0, \
                       total = (SELECT COUNT(*) FROM share_instances i WHERE i.backend = ensure_runs.backend), unchanged = 0, updated = 0, \
                       broken = 0, failed = 0, left_out = 0, skipped = 0, reason = NULL WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Every share up to this instance had its turn; none: every share had.
    pub async fn ensure_walked(&mut self, id: &str, to: Option<&str>) -> StoreResult<()> {
        let sql = "UPDATE ensure_runs SET walked_to = COALESCE($2, walked_to), walked = $3 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(to).bind(to.is_none()).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The busy ones had one more turn.
    pub async fn ensure_round(&mut self, id: &str) -> StoreResult<()> {
        let sql = "UPDATE ensure_runs SET rounds = rounds + 1 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    pub async fn ensure_count(&mut self, id: &str, n: EnsureCounts) -> StoreResult<()> {
        let sql = "UPDATE ensure_runs SET unchanged = unchanged + $2, updated = updated + $3, broken = broken + $4, failed = failed + $5, \
                       left_out = left_out + $6, skipped = skipped + $7 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(n.unchanged).bind(n.updated).bind(n.broken).bind(n.failed).bind(n.left_out)
            .bind(n.skipped).execute(c).await?.rows_affected());
        Ok(())
    }

    /// False: it has ended already.
    pub async fn ensure_end(&mut self, id: &str, outcome: &str, reason: Option<&str>, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE ensure_runs SET outcome = $2, reason = COALESCE($3, reason), ended_at = $4 WHERE id = $1 AND ended_at IS NULL";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(outcome).bind(reason).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    pub async fn ensure_remember(&mut self, backend: &str, fingerprint: &str, now: Micros) -> StoreResult<()> {
        let sql = "INSERT INTO ensure_fingerprints (backend, fingerprint, stored_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (backend) DO UPDATE SET fingerprint = excluded.fingerprint, stored_at = excluded.stored_at";
        on_tx!(self, c => sqlx::query(sql).bind(backend).bind(fingerprint).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }
}
