//! Why each resource went where it went, or nowhere. Written in the placing transaction, so a refusal is kept only if
//! the caller commits what it does about it. Bounded: one row a decision, at most [`KEPT_PER_RESOURCE`] a resource, and
//! old ones are purged.

use uuid::Uuid;

use crate::{
    clock::{self, Micros},
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// Decisions kept for one resource, the newest.
pub const KEPT_PER_RESOURCE: i64 = 8;

/// Decisions kept in all, the newest.
const KEPT: i64 = 200_000;

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct PlacementRow {
    pub id: String,
    pub resource_id: String,
    pub resource_kind: String,
    pub operation: String,
    pub project_id: String,
    pub request_id: String,
    pub size_gib: i64,
    /// None: refused.
    pub pool: Option<String>,
    /// What ran out, when refused.
    pub limit_kind: Option<String>,
    /// JSON of `scheduler::explain::Explanation`.
    pub detail: String,
    pub created_at: Micros,
}

impl Store {
    /// The decisions about one resource, the newest first.
    pub async fn placements(&self, resource_id: &str) -> StoreResult<Vec<PlacementRow>> {
        let sql = "SELECT id, resource_id, resource_kind, operation, project_id, request_id, size_gib, pool, limit_kind, detail, created_at \
                   FROM placements WHERE resource_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(resource_id).bind(KEPT_PER_RESOURCE).fetch_all(p).await?))
    }
}

impl Store {
    /// Decisions older than this are beyond the number that is kept; 0 while there are fewer.
    pub async fn placements_cutoff(&self) -> StoreResult<Micros> {
        let sql = "SELECT created_at FROM placements ORDER BY created_at DESC LIMIT 1 OFFSET $1";
        let last: Option<(Micros,)> = on_read!(self, p => sqlx::query_as(sql).bind(KEPT).fetch_optional(p).await?);
        Ok(last.map_or(0, |(at,)| at))
    }
}

impl Tx {
    /// Keeps a decision. `row.id` and `row.created_at` are set here.
    pub(crate) async fn insert_placement(&mut self, row: &PlacementRow) -> StoreResult<()> {
        let sql = "INSERT INTO placements (id, resource_id, resource_kind, operation, project_id, request_id, size_gib, pool, limit_kind, detail, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        on_tx!(self, t => sqlx::query(sql)
            .bind(Uuid::new_v4().to_string()).bind(&row.resource_id).bind(&row.resource_kind).bind(&row.operation).bind(&row.project_id)
            .bind(&row.request_id).bind(row.size_gib).bind(&row.pool).bind(&row.limit_kind).bind(&row.detail).bind(clock::now())
            .execute(t).await?.rows_affected());
        let sql = "DELETE FROM placements WHERE resource_id = $1 AND created_at < \
                       (SELECT MIN(created_at) FROM (SELECT created_at FROM placements WHERE resource_id = $1 ORDER BY created_at DESC LIMIT $2) AS kept)";
        on_tx!(self, t => sqlx::query(sql).bind(&row.resource_id).bind(KEPT_PER_RESOURCE).execute(t).await?.rows_affected());
        Ok(())
    }

    /// Removes at most `limit` decisions older than `before`; says how many. Call again while it is `limit`.
    pub async fn purge_placements(&mut self, before: Micros, limit: i64) -> StoreResult<u64> {
        let sql = "DELETE FROM placements WHERE id IN (SELECT id FROM placements WHERE created_at < $1 ORDER BY created_at LIMIT $2)";
        Ok(on_tx!(self, t => sqlx::query(sql).bind(before).bind(limit).execute(t).await?.rows_affected()))
    }

    /// Removes settled claims that no report will ever cover (their pool is gone); says how many.
    pub async fn purge_claims(&mut self, before: Micros) -> StoreResult<u64> {
        let sql = "DELETE FROM capacity_claims WHERE settled_at < $1";
        Ok(on_tx!(self, t => sqlx::query(sql).bind(before).execute(t).await?.rows_affected()))
    }
}
