//! The queue's rows.
//!
//! What holds here: at most one job of an order key is `running` (a partial unique index says so); a job runs only when no
//! older one with its key is unfinished; whoever writes on behalf of a job names (worker, generation), and a worker without
//! a living lease matches no row. The set of unfinished jobs ahead of a given one only shrinks, because insertion with one
//! key is serialised ([`Tx::lock_key`]); that is what makes the claim's `NOT EXISTS` right under concurrency.

use std::time::Duration;

use serde_json::Value;
use sqlx::AssertSqlSafe;

use crate::{
    clock::{Micros, micros},
    jobs::{Job, JobFault, JobResult, NewJob},
    store::{
        Store, StoreError, StoreResult, Tx,
        bind::{Sql, bind_values},
        on_read, on_tx,
    },
};

/// PostgreSQL's channel for "there is work" (empty payload) and "this job has ended" (its id).
pub const CHANNEL: &str = "stowage_jobs";

const CLAIMED: &str = "seq, id, kind, resource_kind, order_key, resource_id, backend, payload, generation, attempts, failures, created_at, expires_at, request_id, project_id, user_id";

/// A row as a claim returns it.
#[derive(sqlx::FromRow)]
struct ClaimedRow {
    seq: i64,
    id: String,
    kind: String,
    resource_kind: String,
    order_key: String,
    resource_id: String,
    backend: String,
    payload: String,
    generation: i64,
    attempts: i64,
    failures: i64,
    created_at: Micros,
    expires_at: Micros,
    request_id: String,
    project_id: String,
    user_id: String,
    left: Micros,
}

/// A job this process has just claimed.
#[derive(Debug, Clone)]
pub struct Claimed {
    pub job: Job,
    /// Until its maximum age, by the database's clock; zero when it is past.
    pub left: Duration,
}

impl TryFrom<ClaimedRow> for Claimed {
    type Error = StoreError;
    fn try_from(r: ClaimedRow) -> StoreResult<Self> {
        let payload = parse(&r.payload)?;
        let job = Job {
            seq: r.seq,
            id: r.id,
            kind: r.kind,
            resource_kind: r.resource_kind,
            order_key: r.order_key,
            resource_id: r.resource_id,
            backend: (!r.backend.is_empty()).then_some(r.backend),
            payload,
            generation: r.generation,
            attempts: r.attempts,
            failures: r.failures,
            created_at: r.created_at,
            expires_at: r.expires_at,
            request_id: r.request_id,
            project_id: r.project_id,
            user_id: r.user_id,
        };
        Ok(Self { job, left: Duration::from_micros(u64::try_from(r.left).unwrap_or(0)) })
    }
}

fn parse(text: &str) -> StoreResult<Value> {
    serde_json::from_str(text).map_err(|e| StoreError::Corrupt(format!("jobs: {e}")))
}

/// How a running job goes back to the queue.
#[derive(Debug, Clone, Default)]
pub struct Release {
    pub after: Duration,
    /// Replaces the old one.
    pub payload: Option<Value>,
    /// For people.
    pub reason: String,
    /// The run failed: the back-off grows. Otherwise it is over.
    pub failed: bool,
}

/// How a waiting caller finds a job.
#[derive(Debug, Clone)]
pub enum JobEnd {
    /// No such row: it never was, or was purged.
    Gone,
    /// Not ended; which worker runs it, if any.
    Unfinished {
        worker: Option<String>,
    },
    Ended(JobResult),
}

#[derive(sqlx::FromRow)]
struct EndRow {
    state: String,
    worker: Option<String>,
    outcome: Option<String>,
    result: Option<String>,
}

/// A row of `GET /stowage/v1/jobs`.
#[derive(Debug, Clone, serde::Serialize, sqlx::FromRow)]
pub struct JobRow {
    #[serde(skip)]
    pub seq: i64,
    pub id: String,
    pub kind: String,
    pub resource_kind: String,
    pub resource_id: String,
    pub order_key: String,
    /// `host@backend`, or empty.
    pub backend: String,
    /// `ready`, `running` or `done`.
    pub state: String,
    pub worker: Option<String>,
    pub generation: i64,
    pub attempts: i64,
    pub failures: i64,
    pub run_at: Micros,
    pub created_at: Micros,
    pub expires_at: Micros,
    pub ended_at: Option<Micros>,
    /// Why it waits, or was taken over.
    pub reason: String,
    /// `ok` or `refused`.
    pub outcome: Option<String>,
    pub request_id: String,
    pub project_id: String,
}

/// What `GET /stowage/v1/jobs` may ask for; `None` is any.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    pub state: Option<String>,
    pub kind: Option<String>,
    pub backend: Option<String>,
    pub resource_id: Option<String>,
    pub project_id: Option<String>,
}

/// One back end's share of the queue.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct LaneDepth {
    pub backend: String,
    pub state: String,
    pub jobs: i64,
}

/// A connection that hears announcements. It only wakes: what is missed while it reconnects is found by polling.
pub struct JobListener(sqlx::postgres::PgListener);

impl JobListener {
    /// The next announcement: empty for "there is work", or the id of a job that ended.
    pub async fn next(&mut self) -> StoreResult<String> {
        Ok(self.0.recv().await?.payload().to_owned())
    }
}

impl Store {
    /// Whether and how a job has ended.
    pub async fn job_end(&self, id: &str) -> StoreResult<JobEnd> {
        let sql = "SELECT state, worker, outcome, result FROM jobs WHERE id = $1";
        let row: Option<EndRow> = on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?);
        let Some(EndRow { state, worker, outcome, result }) = row else { return Ok(JobEnd::Gone) };
        if state != "done" {
            return Ok(JobEnd::Unfinished { worker });
        }
        let value = parse(result.as_deref().unwrap_or("null"))?;
        Ok(JobEnd::Ended(if outcome.as_deref() == Some("ok") {
            Ok(value)
        } else {
            Err(serde_json::from_value::<JobFault>(value).map_err(|e| StoreError::Corrupt(format!("jobs.result: {e}")))?)
        }))
    }

    /// Back ends with ready jobs, found by skipping through the index: the cost is that of their number, not of the queue's length.
    pub async fn ready_lanes(&self) -> StoreResult<Vec<String>> {
        let sql = "WITH RECURSIVE lane (backend) AS ( \
                     SELECT MIN(backend) FROM jobs WHERE state = 'ready' \
                     UNION ALL \
                     SELECT (SELECT MIN(j.backend) FROM jobs j WHERE j.state = 'ready' AND j.backend > lane.backend) FROM lane WHERE lane.backend IS NOT NULL) \
                   SELECT backend FROM lane WHERE backend IS NOT NULL";
        let rows: Vec<(String,)> = on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?);
        Ok(rows.into_iter().map(|(b,)| b).collect())
    }

    /// Whether a claim for this back end would find something now. Spares the idle poll a write transaction.
    pub async fn lane_is_due(&self, backend: &str) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "SELECT 1 FROM jobs j WHERE j.state = 'ready' AND j.backend = $1 AND j.run_at <= {now} \
             AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = j.order_key AND o.state <> 'done' AND o.seq < j.seq) LIMIT 1",
        );
        let row: Option<(i32,)> = on_read!(self, p => sqlx::query_as(sql).bind(backend).fetch_optional(p).await?);
        Ok(row.is_some())
    }

    /// The back end of the next job with this order key, if it is due.
    pub async fn next_in_order(&self, order_key: &str) -> StoreResult<Option<String>> {
        let sql = self.dialect().sql(
            "SELECT backend, state = 'ready' AND run_at <= {now} FROM jobs WHERE order_key = $1 AND state <> 'done' ORDER BY seq LIMIT 1",
        );
        let row: Option<(String, bool)> = on_read!(self, p => sqlx::query_as(sql).bind(order_key).fetch_optional(p).await?);
        Ok(row.and_then(|(backend, due)| due.then_some(backend)))
    }

    /// How long until the next job that is not yet due, by the database's clock.
    pub async fn next_due_in(&self) -> StoreResult<Option<Duration>> {
        let sql = self.dialect().sql("SELECT MIN(run_at) - {now} FROM jobs WHERE state = 'ready' AND run_at > {now}");
        let (left,): (Option<i64>,) = on_read!(self, p => sqlx::query_as(sql).fetch_one(p).await?);
        Ok(left.map(|l| Duration::from_micros(u64::try_from(l).unwrap_or(0))))
    }

    /// Jobs that the database says this worker runs: (id, generation).
    pub async fn jobs_of_worker(&self, worker: &str) -> StoreResult<Vec<(String, i64)>> {
        Ok(
            on_read!(self, p => sqlx::query_as("SELECT id, generation FROM jobs WHERE worker = $1 AND state = 'running'").bind(worker).fetch_all(p).await?),
        )
    }

    /// Whether [`Tx::take_over_jobs`] or [`Tx::remove_dead_workers`] would find something. Spares the sweep a write transaction.
    pub async fn has_dead_workers(&self) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM workers WHERE lease_until <= {now}) \
             OR EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = jobs.worker))",
        );
        let row: Option<(i32,)> = on_read!(self, p => sqlx::query_as(sql).fetch_optional(p).await?);
        Ok(row.is_some())
    }

    /// PostgreSQL: hears what other processes announce on [`CHANNEL`]. `None` on SQLite.
    pub async fn job_listener(&self) -> StoreResult<Option<JobListener>> {
        let crate::store::open::Db::Postgres(pool) = self.db() else { return Ok(None) };
        let mut listener = sqlx::postgres::PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(JobListener(listener)))
    }

    /// Queue depth by back end and state, finished jobs aside.
    pub async fn lane_depths(&self) -> StoreResult<Vec<LaneDepth>> {
        let sql = "SELECT backend, state, COUNT(*) AS jobs FROM jobs WHERE state <> 'done' GROUP BY backend, state ORDER BY backend, state";
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }

    /// Jobs, newest first, after the job named by `marker`. An unknown marker gives the first page.
    pub async fn list_jobs(&self, filter: &JobFilter, marker: Option<&str>, limit: i64) -> StoreResult<Vec<JobRow>> {
        let mut sql = Sql::new(
            "SELECT seq, id, kind, resource_kind, resource_id, order_key, backend, state, worker, generation, attempts, failures, run_at, created_at, expires_at, ended_at, \
             reason, outcome, request_id, project_id FROM jobs WHERE 1 = 1",
        );
        for (column, value) in [
            ("state", &filter.state),
            ("kind", &filter.kind),
            ("backend", &filter.backend),
            ("resource_id", &filter.resource_id),
            ("project_id", &filter.project_id),
        ] {
            if let Some(v) = value {
                sql.push(" AND ").push(column).push(" = ").bind(v.as_str());
            }
        }
        if let Some(id) = marker {
            sql.push(" AND seq < COALESCE((SELECT m.seq FROM jobs m WHERE m.id = ").bind(id).push("), 9223372036854775807)");
        }
        sql.push(" ORDER BY seq DESC LIMIT ").bind(limit);
        let Sql { text, values } = sql;
        Ok(on_read!(self, p => bind_values!(sqlx::query_as(AssertSqlSafe(text)), values).fetch_all(p).await?))
    }
}

impl Tx {
    /// Inserts a job and claims it for `worker`, unless an older job with its order key is unfinished.
    /// The claim is in `Ok(Some)`; `None` when it was only queued.
    pub async fn insert_job(&mut self, id: &str, job: &NewJob, worker: Option<&str>) -> StoreResult<Option<Claimed>> {
        self.lock_key(&job.order_key).await?;
        let sql = self.dialect().sql(
            "INSERT INTO jobs (id, kind, resource_kind, resource_id, order_key, backend, payload, state, worker, generation, attempts, failures, run_at, created_at, expires_at, \
               awaited, reason, request_id, project_id, user_id) \
             SELECT $1, $2, $3, $4, $5, $6, $7, CASE WHEN n.mine THEN 'running' ELSE 'ready' END, CASE WHEN n.mine THEN $8 END, CASE WHEN n.mine THEN 1 ELSE 0 END, \
               CASE WHEN n.mine THEN 1 ELSE 0 END, 0, n.at, n.at, n.at + $9, FALSE, '', $10, $11, $12 \
             FROM (SELECT {now} AS at, $8 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = $5 AND o.state <> 'done') AS mine) n \
             RETURNING seq, generation, created_at, expires_at",
        );
        let payload = job.payload.to_string();
        let row: (i64, i64, Micros, Micros) = on_tx!(self, c => sqlx::query_as(sql)
            .bind(id)
            .bind(job.kind)
            .bind(job.resource_kind)
            .bind(&job.resource_id)
            .bind(&job.order_key)
            .bind(job.backend.as_deref().unwrap_or(""))
            .bind(&payload)
            .bind(worker)
            .bind(micros(job.max_age))
            .bind(&job.request_id)
            .bind(&job.project_id)
            .bind(&job.user_id)
            .fetch_one(c)
            .await?);
        let (seq, generation, created_at, expires_at) = row;
        if generation == 0 {
            return Ok(None);
        }
        let job = Job {
            seq,
            id: id.to_owned(),
            kind: job.kind.to_owned(),
            resource_kind: job.resource_kind.to_owned(),
            order_key: job.order_key.clone(),
            resource_id: job.resource_id.clone(),
            backend: job.backend.clone(),
            payload: job.payload.clone(),
            generation,
            attempts: 1,
            failures: 0,
            created_at,
            expires_at,
            request_id: job.request_id.clone(),
            project_id: job.project_id.clone(),
            user_id: job.user_id.clone(),
        };
        let left = Duration::from_micros(u64::try_from(expires_at.saturating_sub(created_at)).unwrap_or(0));
        Ok(Some(Claimed { job, left }))
    }

    /// Claims up to `limit` due jobs of one back end, oldest due first.
    pub async fn claim_lane(&mut self, backend: &str, worker: &str, limit: i64) -> StoreResult<Vec<Claimed>> {
        let sql = self.claim_sql(
            "SELECT j.seq FROM jobs j WHERE j.state = 'ready' AND j.backend = $2 AND j.run_at <= {now} \
             AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = j.order_key AND o.state <> 'done' AND o.seq < j.seq) \
             ORDER BY j.run_at, j.seq LIMIT $3 {skip_locked}",
        );
        let rows: Vec<ClaimedRow> = on_tx!(self, c => sqlx::query_as(sql).bind(worker).bind(backend).bind(limit).fetch_all(c).await?);
        rows.into_iter().map(Claimed::try_from).collect()
    }

    /// Claims the oldest unfinished job with this order key, if it is due.
    pub async fn claim_next_in_order(&mut self, order_key: &str, worker: &str) -> StoreResult<Option<Claimed>> {
        let sql = self.claim_sql(
            "SELECT j.seq FROM jobs j WHERE j.order_key = $2 AND j.state = 'ready' AND j.run_at <= {now} \
             AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = $2 AND o.state <> 'done' AND o.seq < j.seq) \
             ORDER BY j.seq LIMIT 1 {skip_locked}",
        );
        let row: Option<ClaimedRow> = on_tx!(self, c => sqlx::query_as(sql).bind(worker).bind(order_key).fetch_optional(c).await?);
        row.map(Claimed::try_from).transpose()
    }

    fn claim_sql(&self, candidates: &'static str) -> AssertSqlSafe<String> {
        let candidates = self.dialect().expand(candidates);
        let now = self.dialect().now();
        // materialised: as a plain sub-select PostgreSQL may run it again for every row and pass the limit
        AssertSqlSafe(format!(
            "WITH due AS MATERIALIZED ({candidates}) \
             UPDATE jobs SET state = 'running', worker = $1, generation = generation + 1, attempts = attempts + 1, reason = '' \
             WHERE seq IN (SELECT seq FROM due) AND state = 'ready' RETURNING {CLAIMED}, expires_at - {now} AS \"left\""
        ))
    }

    /// Ends a job with its answer. `None`: (worker, generation) does not hold it any more, nothing was written.
    /// `Some(true)`: another process waits for it.
    pub async fn end_job(&mut self, id: &str, worker: &str, generation: i64, result: &JobResult) -> StoreResult<Option<bool>> {
        let (outcome, text) = match result {
            Ok(value) => ("ok", value.to_string()),
            Err(fault) => ("refused", serde_json::to_string(fault).map_err(|e| StoreError::Corrupt(e.to_string()))?),
        };
        let sql = self.dialect().sql(
            "UPDATE jobs SET state = 'done', worker = NULL, ended_at = {now}, reason = '', outcome = $4, result = $5 \
             WHERE id = $1 AND worker = $2 AND generation = $3 AND state = 'running' \
             AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND w.lease_until > {now}) RETURNING awaited",
        );
        let row: Option<(bool,)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).bind(worker).bind(generation).bind(outcome).bind(&text).fetch_optional(c).await?);
        Ok(row.map(|(awaited,)| awaited))
    }

    /// Puts a running job back, due after `after` but no later than its maximum age.
    /// False: (worker, generation) does not hold it any more, nothing was written.
    pub async fn release_job(&mut self, id: &str, worker: &str, generation: i64, release: &Release) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "UPDATE jobs SET state = 'ready', worker = NULL, reason = $6, payload = COALESCE($5, payload), failures = CASE WHEN $7 THEN failures + 1 ELSE 0 END, \
             run_at = CASE WHEN {now} < expires_at AND {now} + $4 > expires_at THEN expires_at ELSE {now} + $4 END \
             WHERE id = $1 AND worker = $2 AND generation = $3 AND state = 'running' \
             AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND w.lease_until > {now})",
        );
        let payload = release.payload.as_ref().map(Value::to_string);
        let done = on_tx!(self, c => sqlx::query(sql)
            .bind(id)
            .bind(worker)
            .bind(generation)
            .bind(micros(release.after))
            .bind(payload)
            .bind(&release.reason)
            .bind(release.failed)
            .execute(c)
            .await?
            .rows_affected());
        Ok(done == 1)
    }

    /// Holds the job for the rest of this transaction, for a write on its behalf before its end.
    /// False: (worker, generation) does not hold it; the caller rolls back.
    pub async fn hold_job(&mut self, id: &str, worker: &str, generation: i64) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "UPDATE jobs SET attempts = attempts WHERE id = $1 AND worker = $2 AND generation = $3 AND state = 'running' \
             AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND w.lease_until > {now})",
        );
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(worker).bind(generation).execute(c).await?.rows_affected()) == 1)
    }

    /// Another process wants to be woken at the job's end. False when it has ended already (or is gone).
    pub async fn await_job(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "UPDATE jobs SET awaited = TRUE WHERE id = $1 AND state <> 'done'";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// A worker that ends in good order gives its jobs back, due at once. How many.
    pub async fn hand_back(&mut self, worker: &str) -> StoreResult<u64> {
        let sql = self.dialect().sql("UPDATE jobs SET state = 'ready', worker = NULL, run_at = {now}, reason = 'handed back at shutdown' WHERE worker = $1 AND state = 'running'");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(worker).execute(c).await?.rows_affected()))
    }

    /// Takes the running jobs of workers without a living lease; they become due at once and get a new generation with
    /// their next claim. How many.
    pub async fn take_over_jobs(&mut self) -> StoreResult<u64> {
        let sql = self.dialect().sql(
            "UPDATE jobs SET state = 'ready', worker = NULL, run_at = {now}, reason = 'taken over: its worker ended or lost its lease' \
             WHERE state = 'running' AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = jobs.worker AND w.lease_until > {now})",
        );
        Ok(on_tx!(self, c => sqlx::query(sql).execute(c).await?.rows_affected()))
    }

    /// The oldest unfinished job of this kind on a resource: a repeated request joins it.
    pub async fn running_job(&mut self, resource_id: &str, kind: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT id FROM jobs WHERE resource_id = $1 AND kind = $2 AND state <> 'done' ORDER BY seq LIMIT 1";
        let row: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(resource_id).bind(kind).fetch_optional(c).await?);
        Ok(row.map(|(id,)| id))
    }

    /// Moves an unfinished job to another back end's budget, for a task that chose another pool. Takes effect with the next claim.
    pub async fn move_job(&mut self, id: &str, backend: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("UPDATE jobs SET backend = $2 WHERE id = $1 AND state <> 'done'").bind(id).bind(backend).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Deletes jobs that ended longer ago than `keep`; at most `limit`, so that the transaction stays short. How many.
    pub async fn purge_jobs(&mut self, keep: Duration, limit: i64) -> StoreResult<u64> {
        let sql = self.dialect().sql("DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = 'done' AND ended_at <= {now} - $1 ORDER BY ended_at LIMIT $2)");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(micros(keep)).bind(limit).execute(c).await?.rows_affected()))
    }
}
