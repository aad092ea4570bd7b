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

    /// A host name other than `host` under which volumes or shares are placed. Does not grow with their number.
    pub async fn host_of_what_is_placed_other_than(&mut self, host: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT host FROM backends b WHERE EXISTS (SELECT 1 FROM volumes v WHERE v.backend = b.host) \
                       OR EXISTS (SELECT 1 FROM share_instances i WHERE i.backend = b.host) ORDER BY host";
        let used: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).fetch_all(c).await?);
        Ok(used.into_iter().filter_map(|(backend,)| Some(backend.rsplit_once('@')?.0.to_owned())).find(|of| of != host))
    }

    pub async fn set_setting(&mut self, name: &str, value: &str) -> StoreResult<()> {
        let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        on_tx!(self, c => sqlx::query(sql).bind(name).bind(value).execute(c).await?.rows_affected());
        Ok(())
    }
}
