//! Facts about this installation, one row each.

use crate::store::{Store, StoreResult, Tx, on_read, on_tx};

impl Store {
    pub async fn setting(&self, name: &str) -> StoreResult<Option<String>> {
        let row: Option<(String,)> =
            on_read!(self, p => sqlx::query_as("SELECT value FROM settings WHERE name = $1").bind(name).fetch_optional(p).await?);
        Ok(row.map(|(v,)| v))
    }
}

impl Tx {
    /// Writes `value` unless the setting exists; what holds afterwards. Two processes that start at once agree on one value.
    pub async fn settle_setting(&mut self, name: &str, value: &str) -> StoreResult<String> {
        on_tx!(self, c => sqlx::query("INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING").bind(name).bind(value).execute(c).await?.rows_affected());
        let (found,): (String,) =
            on_tx!(self, c => sqlx::query_as("SELECT value FROM settings WHERE name = $1").bind(name).fetch_one(c).await?);
        Ok(found)
    }

    pub async fn set_setting(&mut self, name: &str, value: &str) -> StoreResult<()> {
        let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        on_tx!(self, c => sqlx::query(sql).bind(name).bind(value).execute(c).await?.rows_affected());
        Ok(())
    }
}
