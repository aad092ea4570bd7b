//! What is left of a deleted resource: enough to page over it, to explain a late result, and to find an orphan's owner.
//! Purged by age.

use std::time::Duration;

use serde_json::Value;

use crate::{
    clock::{Micros, micros},
    store::{Store, StoreError, StoreResult, Tx, on_read, on_tx},
};

/// A deleted resource, written by the transaction that deletes its row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tombstone {
    /// `volume`, `snapshot`, `attachment`, ...
    pub kind: &'static str,
    pub id: String,
    pub project_id: String,
    /// The columns a list may be sorted by, so that the deleted row still serves as a marker.
    pub sort_keys: Value,
    /// `host@backend#pool`, or empty.
    pub host: String,
    pub provider_id: String,
    pub request_id: String,
}

/// A tombstone as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct TombstoneRow {
    pub project_id: String,
    pub sort_keys: Value,
    pub host: String,
    pub provider_id: String,
    pub request_id: String,
    pub deleted_at: Micros,
}

impl Store {
    pub async fn tombstone(&self, kind: &str, id: &str) -> StoreResult<Option<TombstoneRow>> {
        let sql = "SELECT project_id, sort_keys, host, provider_id, request_id, deleted_at FROM tombstones WHERE kind = $1 AND id = $2";
        let row: Option<(String, String, String, String, String, Micros)> =
            on_read!(self, p => sqlx::query_as(sql).bind(kind).bind(id).fetch_optional(p).await?);
        let Some((project_id, sort_keys, host, provider_id, request_id, deleted_at)) = row else { return Ok(None) };
        let sort_keys = serde_json::from_str(&sort_keys).map_err(|e| StoreError::Corrupt(format!("tombstones: {e}")))?;
        Ok(Some(TombstoneRow { project_id, sort_keys, host, provider_id, request_id, deleted_at }))
    }
}

impl Tx {
    /// Leaves a tombstone. A second one for the same resource changes nothing.
    pub async fn tombstone(&mut self, t: &Tombstone) -> StoreResult<()> {
        let sql = self.dialect().sql(
            "INSERT INTO tombstones (kind, id, project_id, sort_keys, host, provider_id, request_id, deleted_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7, {now} WHERE TRUE ON CONFLICT (kind, id) DO NOTHING",
        );
        let sort_keys = t.sort_keys.to_string();
        on_tx!(self, c => sqlx::query(sql)
            .bind(t.kind)
            .bind(&t.id)
            .bind(&t.project_id)
            .bind(&sort_keys)
            .bind(&t.host)
            .bind(&t.provider_id)
            .bind(&t.request_id)
            .execute(c)
            .await?
            .rows_affected());
        Ok(())
    }

    /// Deletes tombstones older than `keep`, at most `limit`; how many.
    pub async fn purge_tombstones(&mut self, keep: Duration, limit: i64) -> StoreResult<u64> {
        let sql = self.dialect().sql(
            "DELETE FROM tombstones WHERE (kind, id) IN (SELECT kind, id FROM tombstones WHERE deleted_at <= {now} - $1 ORDER BY deleted_at LIMIT $2)",
        );
        Ok(on_tx!(self, c => sqlx::query(sql).bind(micros(keep)).bind(limit).execute(c).await?.rows_affected()))
    }
}
