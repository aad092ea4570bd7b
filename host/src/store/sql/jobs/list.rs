//! The queue as an operator sees it.

use crate::{
    clock::{self, Micros},
    store::{Store, StoreResult, bind::Sql, on_read},
};

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
    #[serde(serialize_with = "clock::as_utc")]
    pub run_at: Micros,
    #[serde(serialize_with = "clock::as_utc")]
    pub created_at: Micros,
    #[serde(serialize_with = "clock::as_utc")]
    pub expires_at: Micros,
    #[serde(serialize_with = "clock::as_utc_or_null")]
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

impl Store {
    /// Queue depth by back end and state, finished jobs aside.
    pub async fn lane_depths(&self) -> StoreResult<Vec<LaneDepth>> {
        let sql = "SELECT backend, state, COUNT(*) AS jobs FROM jobs WHERE state <> 'done' GROUP BY backend, state ORDER BY backend, state";
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }

    /// Whether there is, or still is, a job of this id.
    pub async fn has_job(&self, id: &str) -> StoreResult<bool> {
        let sql = "SELECT COUNT(*) FROM jobs WHERE id = $1";
        Ok(on_read!(self, p => sqlx::query_scalar::<_, i64>(sql).bind(id).fetch_one(p).await?) > 0)
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
        self.fetch_all(sql).await
    }
}
