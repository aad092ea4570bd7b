//! The users' key/value pairs on volumes.

use crate::store::{Store, StoreResult, Tx, on_read, on_tx};

impl Store {
    /// All pairs of one volume, by key.
    pub async fn volume_metadata(&self, volume_id: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT key, value FROM volume_metadata WHERE volume_id = $1 ORDER BY key";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(volume_id).fetch_all(p).await?))
    }
}

impl Tx {
    pub async fn volume_metadata(&mut self, volume_id: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT key, value FROM volume_metadata WHERE volume_id = $1 ORDER BY key";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(volume_id).fetch_all(c).await?))
    }

    /// Adds or overwrites pairs.
    pub async fn volume_metadata_put(&mut self, volume_id: &str, pairs: &[(String, String)]) -> StoreResult<()> {
        let sql = "INSERT INTO volume_metadata (volume_id, key, value) VALUES ($1, $2, $3) ON CONFLICT (volume_id, key) DO UPDATE SET value = EXCLUDED.value";
        for (key, value) in pairs {
            on_tx!(self, c => sqlx::query(sql).bind(volume_id).bind(key).bind(value).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    /// Removes every pair.
    pub async fn volume_metadata_clear(&mut self, volume_id: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("DELETE FROM volume_metadata WHERE volume_id = $1").bind(volume_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Removes one pair; false when there is none of this key.
    pub async fn volume_metadata_remove(&mut self, volume_id: &str, key: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM volume_metadata WHERE volume_id = $1 AND key = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(volume_id).bind(key).execute(c).await?.rows_affected()) == 1)
    }
}
