//! Transfers: volumes offered to whoever has the key. A row lasts as long as the offer; it goes with its volume.

use crate::{
    clock::Micros,
    domain::text_enum,
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        keyset::{self, ListKey, Order},
        on_read, on_tx,
    },
};

/// A transfer as it stands in the database. Without `Debug`: it holds what is kept of the key.
#[derive(Clone, sqlx::FromRow)]
pub struct TransferRow {
    pub id: String,
    pub volume_id: String,
    /// Whose volume it is.
    pub project_id: String,
    pub name: Option<String>,
    pub salt: String,
    pub key_hash: String,
    /// The volume's snapshots stay where they are.
    pub no_snapshots: bool,
    pub created_at: Micros,
}

const SELECT: &str = "SELECT id, volume_id, project_id, name, salt, key_hash, no_snapshots, created_at FROM transfers";

text_enum! {
    /// What transfers can be sorted by.
    pub enum TransferSort {
        Id = "id",
        CreatedAt = "created_at",
        Name = "name",
        VolumeId = "volume_id",
    }
}

impl ListKey for TransferSort {
    type Row = TransferRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::CreatedAt => "created_at",
            Self::Name => "COALESCE(name, '')",
            Self::VolumeId => "volume_id",
        }
    }
    fn value(self, t: &TransferRow) -> Value {
        match self {
            Self::Id => Value::from(t.id.as_str()),
            Self::CreatedAt => Value::from(t.created_at),
            Self::Name => Value::from(t.name.clone().unwrap_or_default()),
            Self::VolumeId => Value::from(t.volume_id.as_str()),
        }
    }
}

/// A list to be read. Filters that are none do not filter.
#[derive(Debug, Clone, Default)]
pub struct TransferQuery {
    pub project_id: Option<String>,
    pub id: Option<String>,
    pub volume_id: Option<String>,
    pub name: Option<String>,
    pub order: Vec<Order>,
    pub after: Option<Vec<Value>>,
    pub limit: i64,
    pub offset: i64,
}

impl Store {
    pub async fn transfer(&self, id: &str) -> StoreResult<Option<TransferRow>> {
        let sql = format!("{SELECT} WHERE id = $1");
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(p).await?))
    }

    pub async fn transfers(&self, query: &TransferQuery) -> StoreResult<Vec<TransferRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        let filters = [("project_id", &query.project_id), ("id", &query.id), ("volume_id", &query.volume_id), ("name", &query.name)];
        for (column, value) in filters {
            if let Some(value) = value {
                sql.push(" AND ").push(column).push(" = ").bind(value.as_str());
            }
        }
        keyset::push_page(&mut sql, &query.order, query.after.as_deref(), query.limit, query.offset);
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn transfer(&mut self, id: &str) -> StoreResult<Option<TransferRow>> {
        let sql = format!("{SELECT} WHERE id = $1");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(c).await?))
    }

    /// The offer of a volume, if there is one.
    pub async fn transfer_of(&mut self, volume_id: &str) -> StoreResult<Option<TransferRow>> {
        let sql = format!("{SELECT} WHERE volume_id = $1");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(volume_id).fetch_optional(c).await?))
    }

    pub async fn transfer_insert(&mut self, t: &TransferRow) -> StoreResult<()> {
        let sql = "INSERT INTO transfers (id, volume_id, project_id, name, salt, key_hash, no_snapshots, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        on_tx!(self, c => sqlx::query(sql).bind(&t.id).bind(&t.volume_id).bind(&t.project_id).bind(&t.name).bind(&t.salt).bind(&t.key_hash)
            .bind(t.no_snapshots).bind(t.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The row goes; false when it is gone.
    pub async fn transfer_remove(&mut self, id: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM transfers WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// awaiting-transfer -> available, in another project.
    pub async fn volume_give(&mut self, id: &str, project_id: &str, user_id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE volumes SET status = 'available', project_id = $2, user_id = $3, updated_at = $4 WHERE id = $1 AND status = 'awaiting-transfer'";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(project_id).bind(user_id).bind(now).execute(c).await?.rows_affected()) == 1)
    }
}
