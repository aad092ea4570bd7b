//! The queue's rows.
//!
//! What holds here: at most one job of an order key is `running` (a partial unique index says so); a job runs only when no
//! older one with its key is unfinished; whoever writes on behalf of a job names (worker, generation), and a worker without
//! a living lease matches no row. The set of unfinished jobs ahead of a given one only shrinks, because insertion with one
//! key is serialised ([`Tx::lock_key`]); that is what makes the claim's `NOT EXISTS` right under concurrency.

mod claim;
mod holds;
mod list;
mod listen;

use std::time::Duration;

use serde_json::Value;

use crate::{
    clock::micros,
    jobs::{JobFault, JobResult},
    store::{Store, StoreError, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

pub use self::{
    claim::Claimed,
    list::{JobFilter, JobRow, LaneDepth},
    listen::JobListener,
};

/// PostgreSQL's channel for "there is work" (empty payload) and "this job has ended" (its id).
pub const CHANNEL: &str = "stowage_jobs";

pub(super) fn parse(text: &str) -> StoreResult<Value> {
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
    /// The back end whose lane the job waits for from now on; none: the one it waited for before.
    pub lane: Option<String>,
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

    /// Jobs that the database says this worker runs: (id, generation).
    pub async fn jobs_of_worker(&self, worker: &str) -> StoreResult<Vec<(String, i64)>> {
        Ok(
            on_read!(self, p => sqlx::query_as("SELECT id, generation FROM jobs WHERE worker = $1 AND state = 'running'").bind(worker).fetch_all(p).await?),
        )
    }

    /// How many jobs of this kind a back end has that have not ended.
    pub async fn unfinished_jobs(&self, kind: &str, backend: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM jobs WHERE kind = $1 AND backend = $2 AND state <> 'done'";
        let (n,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(kind).bind(backend).fetch_one(p).await?);
        Ok(n)
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
}

impl Tx {
    /// Ends a job with its answer. `None`: (worker, generation) does not hold it any more, nothing was written.
    /// `Some(true)`: another process waits for it.
    pub async fn end_job(&mut self, id: &str, worker: &str, generation: i64, result: &JobResult) -> StoreResult<Option<bool>> {
        let (outcome, text, reason) = match result {
            Ok(value) => ("ok", value.to_string(), ""),
            Err(fault) => {
                let text = serde_json::to_string(fault).map_err(|e| StoreError::Corrupt(e.to_string()))?;
                ("refused", text, fault.message.as_str())
            }
        };
        let sql = self.dialect().sql(
            "UPDATE jobs SET state = 'done', worker = NULL, ended_at = {now}, reason = $6, outcome = $4, result = $5 \
             WHERE id = $1 AND worker = $2 AND generation = $3 AND state = 'running' \
             AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND w.lease_until > {now}) RETURNING awaited",
        );
        let row: Option<(bool,)> = on_tx!(self, c => {
            sqlx::query_as(sql).bind(id).bind(worker).bind(generation).bind(outcome).bind(&text).bind(reason).fetch_optional(c).await?
        });
        Ok(row.map(|(awaited,)| awaited))
    }

    /// Puts a running job back, due after `after` but no later than its maximum age.
    /// False: (worker, generation) does not hold it any more, nothing was written.
    pub async fn release_job(&mut self, id: &str, worker: &str, generation: i64, release: &Release) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "UPDATE jobs SET state = 'ready', worker = NULL, reason = $6, payload = COALESCE($5, payload), failures = CASE WHEN $7 THEN failures + 1 ELSE 0 END, \
             backend = COALESCE($8, backend), run_at = CASE WHEN {now} < expires_at AND {now} + $4 > expires_at THEN expires_at ELSE {now} + $4 END \
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
            .bind(&release.lane)
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

    /// As [`Tx::hold_job`], and writes down how far it is: what the next run begins with, and what people read.
    pub async fn note_job(&mut self, id: &str, worker: &str, generation: i64, payload: &Value, reason: &str) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "UPDATE jobs SET payload = $4, reason = $5 WHERE id = $1 AND worker = $2 AND generation = $3 AND state = 'running' \
             AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND w.lease_until > {now})",
        );
        let payload = payload.to_string();
        let done = on_tx!(self, c => sqlx::query(sql).bind(id).bind(worker).bind(generation).bind(&payload).bind(reason).execute(c).await?.rows_affected());
        Ok(done == 1)
    }

    /// A job has at least so long from now on.
    pub async fn job_may_take(&mut self, id: &str, left: Duration) -> StoreResult<()> {
        let sql =
            self.dialect().sql("UPDATE jobs SET expires_at = {now} + $2 WHERE id = $1 AND state <> 'done' AND expires_at < {now} + $2");
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(micros(left)).execute(c).await?.rows_affected());
        Ok(())
    }

    /// A job that waits for its time is due now. False: it does not wait.
    pub async fn job_is_due(&mut self, id: &str) -> StoreResult<bool> {
        let sql = self.dialect().sql("UPDATE jobs SET run_at = {now} WHERE id = $1 AND state = 'ready' AND run_at > {now}");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
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

    /// The oldest unfinished job of one of these kinds on a resource.
    pub async fn running_job(&mut self, resource_id: &str, kinds: &[&str]) -> StoreResult<Option<String>> {
        let mut sql = Sql::new("SELECT id FROM jobs WHERE state <> 'done' AND resource_id = ");
        sql.bind(resource_id).push(" AND kind IN ").bind_list(kinds.iter().copied()).push(" ORDER BY seq LIMIT 1");
        let rows: Vec<(String,)> = self.fetch_all(sql).await?;
        Ok(rows.into_iter().next().map(|(id,)| id))
    }

    /// The oldest unfinished job on a resource, whatever it does.
    pub async fn job_on(&mut self, resource_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT id FROM jobs WHERE resource_id = $1 AND state <> 'done' ORDER BY seq LIMIT 1";
        let row: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(resource_id).fetch_optional(c).await?);
        Ok(row.map(|(id,)| id))
    }

    /// Moves an unfinished job to another back end's budget, for a task that chose another pool. Takes effect with the next claim.
    pub async fn move_job(&mut self, id: &str, backend: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("UPDATE jobs SET backend = $2 WHERE id = $1 AND state <> 'done'").bind(id).bind(backend).execute(c).await?.rows_affected());
        Ok(())
    }

    /// What has not ended under this order key is not wanted any more. One that runs finds that it is its worker's no longer.
    pub async fn withdraw_jobs(&mut self, order_key: &str) -> StoreResult<u64> {
        let sql = "DELETE FROM jobs WHERE order_key = $1 AND state <> 'done'";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(order_key).execute(c).await?.rows_affected()))
    }

    /// Deletes jobs that ended longer ago than `keep`; at most `limit`, so that the transaction stays short. How many.
    pub async fn purge_jobs(&mut self, keep: Duration, limit: i64) -> StoreResult<u64> {
        let sql = self.dialect().sql("DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = 'done' AND ended_at <= {now} - $1 ORDER BY ended_at LIMIT $2)");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(micros(keep)).bind(limit).execute(c).await?.rows_affected()))
    }
}
