//! The users' key/value pairs on snapshots.

use crate::store::{Store, StoreResult, Tx, on_read, on_tx};

impl Store {
    /// All pairs of one snapshot, by key.
    pub async fn snapshot_metadata(&self, snapshot_id: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT key, value FROM snapshot_metadata WHERE snapshot_id = $1 ORDER BY key";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(snapshot_id).fetch_all(p).await?))
    }
}

impl Tx {
    pub async fn snapshot_metadata(&mut self, snapshot_id: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT key, value FROM snapshot_metadata WHERE snapshot_id = $1 ORDER BY key";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(snapshot_id).fetch_all(c).await?))
    }

    /// Adds or overwrites pairs.
    pub async fn snapshot_metadata_put(&mut self, snapshot_id: &str, pairs: &[(String, String)]) -> StoreResult<()> {
        let sql = "INSERT INTO snapshot_metadata (snapshot_id, key, value) VALUES ($1, $2, $3) ON CONFLICT (snapshot_id, key) DO UPDATE SET value = EXCLUDED.value";
        for (key, value) in pairs {
            on_tx!(self, c => sqlx::query(sql).bind(snapshot_id).bind(key).bind(value).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    /// Removes every pair.
    pub async fn snapshot_metadata_clear(&mut self, snapshot_id: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("DELETE FROM snapshot_metadata WHERE snapshot_id = $1").bind(snapshot_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Removes one pair; false when there is none of this key.
    pub async fn snapshot_metadata_remove(&mut self, snapshot_id: &str, key: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM snapshot_metadata WHERE snapshot_id = $1 AND key = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(snapshot_id).bind(key).execute(c).await?.rows_affected()) == 1)
    }
}
