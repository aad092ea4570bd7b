//! Putting a job in, and taking jobs to run: the statements that must stay fast however long the queue.

use std::time::Duration;

use sqlx::AssertSqlSafe;

use super::parse;
use crate::{
    clock::{Micros, micros},
    jobs::{Job, NewJob},
    store::{Store, StoreError, StoreResult, Tx, dialect::Dialect, on_read, on_tx},
};

const CLAIMED: &str = "seq, id, kind, resource_kind, order_key, resource_id, backend, payload, generation, attempts, failures, created_at, expires_at, request_id, project_id, user_id";

/// Skips through the index from back end to back end.
const READY_LANES: &str = "WITH RECURSIVE lane (backend) AS ( \
                     SELECT MIN(backend) FROM jobs WHERE state = 'ready' \
                     UNION ALL \
                     SELECT (SELECT MIN(j.backend) FROM jobs j WHERE j.state = 'ready' AND j.backend > lane.backend) FROM lane WHERE lane.backend IS NOT NULL) \
                   SELECT backend FROM lane WHERE backend IS NOT NULL";
/// A due job of a back end, with nothing older of its key unfinished and nobody holding the key.
const LANE_IS_DUE: &str = "SELECT 1 FROM jobs j WHERE j.state = 'ready' AND j.backend = $1 AND j.run_at <= {now} \
             AND NOT EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = j.order_key) \
             AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = j.order_key AND o.state <> 'done' AND o.seq < j.seq) LIMIT 1";
/// The front of an order key.
const NEXT_IN_ORDER: &str = "SELECT backend, state = 'ready' AND run_at <= {now} AND NOT EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = $1) \
             FROM jobs WHERE order_key = $1 AND state <> 'done' ORDER BY seq LIMIT 1";
/// What a claim for a back end takes.
const DUE_IN_LANE: &str = "SELECT j.seq FROM jobs j WHERE j.state = 'ready' AND j.backend = $2 AND j.run_at <= {now} \
             AND NOT EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = j.order_key) \
             AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = j.order_key AND o.state <> 'done' AND o.seq < j.seq) \
             ORDER BY j.run_at, j.seq LIMIT $3 {skip_locked}";
/// What a claim for an order key takes. Both conditions on `state`: SQLite matches a partial index by its very words.
const DUE_IN_ORDER: &str = "SELECT j.seq FROM jobs j WHERE j.order_key = $2 AND j.state <> 'done' AND j.state = 'ready' AND j.run_at <= {now} \
             AND NOT EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = $2) \
             AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = $2 AND o.state <> 'done' AND o.seq < j.seq) \
             ORDER BY j.seq LIMIT 1 {skip_locked}";
/// Inserts, and claims where nothing of the key is unfinished and nobody holds it.
const INSERT: &str = "INSERT INTO jobs (id, kind, resource_kind, resource_id, order_key, backend, payload, state, worker, generation, attempts, failures, run_at, created_at, expires_at, \
               awaited, reason, request_id, project_id, user_id) \
             SELECT $1, $2, $3, $4, $5, $6, $7, CASE WHEN n.mine THEN 'running' ELSE 'ready' END, CASE WHEN n.mine THEN $8 END, CASE WHEN n.mine THEN 1 ELSE 0 END, \
               CASE WHEN n.mine THEN 1 ELSE 0 END, 0, n.at, n.at, n.at + $9, FALSE, '', $10, $11, $12 \
             FROM (SELECT {now} AS at, EXISTS (SELECT 1 FROM workers w WHERE w.id = $8 AND w.lease_until > {now}) \
               AND NOT EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = $5) \
               AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.order_key = $5 AND o.state <> 'done') AS mine) n \
             RETURNING seq, generation, created_at, expires_at";

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

impl Store {
    /// Back ends with ready jobs, found by skipping through the index: the cost is that of their number, not of the queue's length.
    pub async fn ready_lanes(&self) -> StoreResult<Vec<String>> {
        let sql = READY_LANES;
        let rows: Vec<(String,)> = on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?);
        Ok(rows.into_iter().map(|(b,)| b).collect())
    }

    /// Whether a claim for this back end would find something now. Spares the idle poll a write transaction.
    pub async fn lane_is_due(&self, backend: &str) -> StoreResult<bool> {
        let sql = self.dialect().sql(LANE_IS_DUE);
        let row: Option<(i32,)> = on_read!(self, p => sqlx::query_as(sql).bind(backend).fetch_optional(p).await?);
        Ok(row.is_some())
    }

    /// The back end of the next job with this order key, if it is due.
    pub async fn next_in_order(&self, order_key: &str) -> StoreResult<Option<String>> {
        let sql = self.dialect().sql(NEXT_IN_ORDER);
        let row: Option<(String, bool)> = on_read!(self, p => sqlx::query_as(sql).bind(order_key).fetch_optional(p).await?);
        Ok(row.and_then(|(backend, due)| due.then_some(backend)))
    }

    /// How long until the next job that is not yet due, by the database's clock.
    pub async fn next_due_in(&self) -> StoreResult<Option<Duration>> {
        let sql = self.dialect().sql("SELECT MIN(run_at) - {now} FROM jobs WHERE state = 'ready' AND run_at > {now}");
        let (left,): (Option<i64>,) = on_read!(self, p => sqlx::query_as(sql).fetch_one(p).await?);
        Ok(left.map(|l| Duration::from_micros(u64::try_from(l).unwrap_or(0))))
    }
}

impl Tx {
    /// Inserts a job and claims it for `worker`, unless an older job with its order key is unfinished.
    /// The claim is in `Ok(Some)`; `None` when it was only queued.
    pub async fn insert_job(&mut self, id: &str, job: &NewJob, worker: Option<&str>) -> StoreResult<Option<Claimed>> {
        self.lock_key(&job.order_key).await?;
        let sql = self.dialect().sql(INSERT);
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
        let sql = claim_sql(self.dialect(), DUE_IN_LANE);
        let rows: Vec<ClaimedRow> = on_tx!(self, c => sqlx::query_as(sql).bind(worker).bind(backend).bind(limit).fetch_all(c).await?);
        rows.into_iter().map(Claimed::try_from).collect()
    }

    /// Claims the oldest unfinished job with this order key, if it is due.
    pub async fn claim_next_in_order(&mut self, order_key: &str, worker: &str) -> StoreResult<Option<Claimed>> {
        let sql = claim_sql(self.dialect(), DUE_IN_ORDER);
        let row: Option<ClaimedRow> = on_tx!(self, c => sqlx::query_as(sql).bind(worker).bind(order_key).fetch_optional(c).await?);
        row.map(Claimed::try_from).transpose()
    }
}

fn claim_sql(dialect: Dialect, candidates: &'static str) -> AssertSqlSafe<String> {
    let candidates = dialect.expand(candidates);
    let now = dialect.now();
    // materialised: as a plain sub-select PostgreSQL may run it again for every row and pass the limit
    AssertSqlSafe(format!(
        "WITH due AS MATERIALIZED ({candidates}) \
         UPDATE jobs SET state = 'running', worker = $1, generation = generation + 1, attempts = attempts + 1, reason = '' \
         WHERE seq IN (SELECT seq FROM due) AND state = 'ready' AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $1 AND w.lease_until > {now}) RETURNING {CLAIMED}, expires_at - {now} AS \"left\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{StoreOptions, open::Db};

    /// The hot statements find their rows through an index, and none reads the table.
    #[tokio::test]
    async fn no_claim_scans_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path().join("a.db").display().to_string())).await.unwrap();
        store.migrate().await.unwrap();
        let Db::Sqlite { read, .. } = store.db() else { panic!("SQLite") };
        let sqlite = Dialect::Sqlite;
        let statements = [
            (READY_LANES.to_owned(), "jobs_ready"),
            (sqlite.expand(LANE_IS_DUE).into_owned(), "jobs_ready"),
            (sqlite.expand(NEXT_IN_ORDER).into_owned(), "jobs_order"),
            (claim_sql(sqlite, DUE_IN_LANE).0, "jobs_ready"),
            (claim_sql(sqlite, DUE_IN_ORDER).0, "jobs_order"),
            (sqlite.expand(INSERT).into_owned(), "jobs_order"),
        ];
        for (statement, index) in statements {
            let plan: Vec<(i64, i64, i64, String)> =
                sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"))).fetch_all(read).await.unwrap();
            let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
            assert!(steps.iter().any(|s| s.contains(&format!("INDEX {index}"))), "{statement}\n{steps:#?}");
            assert!(!steps.iter().any(|s| s == "SCAN jobs" || s == "SCAN j" || s == "SCAN o"), "{statement}\n{steps:#?}");
        }
    }
}
