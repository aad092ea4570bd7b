//! The users' key/value pairs on things: one table a kind of thing, all of one shape.

use std::collections::HashMap;

use crate::store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx};

/// Pairs, by key.
pub type Pairs = Vec<(String, String)>;

/// What has pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataOf {
    Volume,
    Snapshot,
    Share,
    ShareAccess,
    ExportLocation,
    ShareSnapshot,
    Subnet,
}

impl MetadataOf {
    const fn table(self) -> &'static str {
        match self {
            Self::Volume => "volume_metadata",
            Self::Snapshot => "snapshot_metadata",
            Self::Share => "share_metadata",
            Self::ShareAccess => "share_access_metadata",
            Self::ExportLocation => "share_export_location_metadata",
            Self::ShareSnapshot => "share_snapshot_metadata",
            Self::Subnet => "share_network_subnet_metadata",
        }
    }
    /// The column that names the thing.
    const fn owner(self) -> &'static str {
        match self {
            Self::Volume => "volume_id",
            Self::Snapshot | Self::ShareSnapshot => "snapshot_id",
            Self::Share => "share_id",
            Self::ShareAccess => "access_id",
            Self::ExportLocation => "location_id",
            Self::Subnet => "subnet_id",
        }
    }
    fn all(self) -> String {
        format!("SELECT key, value FROM {} WHERE {} = $1 ORDER BY key", self.table(), self.owner())
    }
}

impl Store {
    /// All pairs of one thing, by key.
    pub async fn metadata(&self, of: MetadataOf, id: &str) -> StoreResult<Pairs> {
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(of.all())).bind(id).fetch_all(p).await?))
    }

    /// All pairs of these things, by id: for a whole page in one query.
    pub async fn metadata_of_all(&self, of: MetadataOf, ids: impl Iterator<Item = &str>) -> StoreResult<HashMap<String, Pairs>> {
        let mut sql = Sql::new(format!("SELECT {}, key, value FROM {} WHERE {} IN ", of.owner(), of.table(), of.owner()));
        sql.bind_list(ids).push(" ORDER BY ").push(of.owner()).push(", key");
        let mut found: HashMap<String, Pairs> = HashMap::new();
        if !sql.values.is_empty() {
            let rows: Vec<(String, String, String)> = self.fetch_all(sql).await?;
            for (id, key, value) in rows {
                found.entry(id).or_default().push((key, value));
            }
        }
        Ok(found)
    }
}

impl Tx {
    pub async fn metadata(&mut self, of: MetadataOf, id: &str) -> StoreResult<Pairs> {
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(of.all())).bind(id).fetch_all(c).await?))
    }

    /// Adds or overwrites pairs.
    pub async fn metadata_put(&mut self, of: MetadataOf, id: &str, pairs: &[(String, String)]) -> StoreResult<()> {
        let (table, owner) = (of.table(), of.owner());
        for (key, value) in pairs {
            let sql = format!(
                "INSERT INTO {table} ({owner}, key, value) VALUES ($1, $2, $3) ON CONFLICT ({owner}, key) DO UPDATE SET value = EXCLUDED.value"
            );
            on_tx!(self, c => sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(key).bind(value).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    /// Removes every pair.
    pub async fn metadata_clear(&mut self, of: MetadataOf, id: &str) -> StoreResult<()> {
        let sql = format!("DELETE FROM {} WHERE {} = $1", of.table(), of.owner());
        on_tx!(self, c => sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Removes one pair; false when there is none of this key.
    pub async fn metadata_remove(&mut self, of: MetadataOf, id: &str, key: &str) -> StoreResult<bool> {
        let sql = format!("DELETE FROM {} WHERE {} = $1 AND key = $2", of.table(), of.owner());
        Ok(on_tx!(self, c => sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(key).execute(c).await?.rows_affected()) == 1)
    }
}
