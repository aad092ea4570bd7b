//! What a back end holds, by project. For operators; it reads every row of the back end.

use crate::store::{Store, StoreResult, on_read};

/// One project's part of a back end.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct BackendUsage {
    pub project_id: String,
    pub volumes: i64,
    pub volume_gib: i64,
    pub snapshots: i64,
    pub snapshot_gib: i64,
}

impl Store {
    /// What `host@backend` holds, a row a project, by project id.
    pub async fn backend_usage(&self, backend: &str) -> StoreResult<Vec<BackendUsage>> {
        const SQL: &str = "\
            WITH held AS ( \
              SELECT v.project_id, 1 AS volumes, v.size_gib AS volume_gib, 0 AS snapshots, 0 AS snapshot_gib FROM volumes v WHERE v.backend = $1 \
              UNION ALL SELECT s.project_id, 0, 0, 1, s.size_gib FROM snapshots s JOIN volumes v ON v.id = s.volume_id WHERE v.backend = $1 \
            ) SELECT project_id, CAST(SUM(volumes) AS BIGINT) AS volumes, CAST(SUM(volume_gib) AS BIGINT) AS volume_gib, \
                CAST(SUM(snapshots) AS BIGINT) AS snapshots, CAST(SUM(snapshot_gib) AS BIGINT) AS snapshot_gib \
              FROM held GROUP BY project_id ORDER BY project_id";
        Ok(on_read!(self, p => sqlx::query_as(SQL).bind(backend).fetch_all(p).await?))
    }
}
