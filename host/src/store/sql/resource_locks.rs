//! Locks on shares and access rules. They go with what they are on.

use crate::{
    clock::Micros,
    domain::{resource_lock::LockedAction, text_enum},
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value, push_contains},
        keyset::{ListKey, ListQuery},
        on_read, on_tx,
    },
};

/// A lock as it stands in the database.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct LockRow {
    pub id: String,
    pub project_id: String,
    pub user_id: String,
    pub lock_context: String,
    pub resource_type: String,
    pub resource_id: String,
    pub resource_action: String,
    pub lock_reason: Option<String>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

const SELECT: &str = "SELECT l.id, l.project_id, l.user_id, l.lock_context, l.resource_type, l.resource_id, l.resource_action, \
                      l.lock_reason, l.created_at, l.updated_at FROM resource_locks l";

text_enum! {
    /// What locks can be sorted by.
    pub enum LockSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        ResourceId = "resource_id",
        ResourceType = "resource_type",
        ResourceAction = "resource_action",
        UserId = "user_id",
    }
}

impl ListKey for LockSort {
    type Row = LockRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "l.id",
            Self::CreatedAt => "l.created_at",
            Self::UpdatedAt => "COALESCE(l.updated_at, 0)",
            Self::ResourceId => "l.resource_id",
            Self::ResourceType => "l.resource_type",
            Self::ResourceAction => "l.resource_action",
            Self::UserId => "l.user_id",
        }
    }
    fn value(self, l: &LockRow) -> Value {
        match self {
            Self::Id => Value::from(l.id.as_str()),
            Self::CreatedAt => Value::from(l.created_at),
            Self::UpdatedAt => Value::from(l.updated_at.unwrap_or(0)),
            Self::ResourceId => Value::from(l.resource_id.as_str()),
            Self::ResourceType => Value::from(l.resource_type.as_str()),
            Self::ResourceAction => Value::from(l.resource_action.as_str()),
            Self::UserId => Value::from(l.user_id.as_str()),
        }
    }
}

/// One condition of a list.
#[derive(Debug, Clone, PartialEq)]
pub enum LockFilter {
    /// The column is one of ours.
    Equals(&'static str, Value),
    ReasonHas(String),
    Since(Micros),
    Before(Micros),
}

impl LockFilter {
    fn push(&self, sql: &mut Sql) {
        match self {
            Self::Equals(column, value) => {
                sql.push(" AND l.").push(column).push(" = ").bind(value.clone());
            }
            Self::ReasonHas(part) => {
                push_contains(sql, "l", "lock_reason", part);
            }
            Self::Since(at) => {
                sql.push(" AND l.created_at >= ").bind(*at);
            }
            Self::Before(at) => {
                sql.push(" AND l.created_at <= ").bind(*at);
            }
        }
    }
}

impl Store {
    pub async fn resource_lock(&self, id: &str) -> StoreResult<Option<LockRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE l.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    pub async fn resource_locks(&self, query: &ListQuery<LockFilter>) -> StoreResult<Vec<LockRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        query.filters.iter().for_each(|f| f.push(&mut sql));
        query.push_page(&mut sql);
        self.fetch_all(sql).await
    }

    pub async fn resource_lock_count(&self, filters: &[LockFilter]) -> StoreResult<i64> {
        let mut sql = Sql::new("SELECT COUNT(*) FROM resource_locks l WHERE TRUE");
        filters.iter().for_each(|f| f.push(&mut sql));
        let (count,): (i64,) = self.fetch_one(sql).await?;
        Ok(count)
    }

    /// The locks on any of these against `action`.
    pub async fn locks_on(&self, resource_ids: &[&str], action: LockedAction) -> StoreResult<Vec<LockRow>> {
        if resource_ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new(format!("{SELECT} WHERE l.resource_action = "));
        sql.bind(action.as_str()).push(" AND l.resource_id IN ").bind_list(resource_ids.iter().copied());
        self.fetch_all(sql).await
    }
}

impl Tx {
    /// The locks on a resource against `action`, the oldest first.
    pub async fn locks_on(&mut self, resource_id: &str, action: LockedAction) -> StoreResult<Vec<LockRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE l.resource_id = $1 AND l.resource_action = $2 ORDER BY l.created_at, l.id"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(resource_id).bind(action.as_str()).fetch_all(c).await?))
    }

    pub async fn resource_lock_insert(&mut self, l: &LockRow) -> StoreResult<()> {
        const SQL: &str = "INSERT INTO resource_locks (id, project_id, user_id, lock_context, resource_type, resource_id, resource_action, \
                           lock_reason, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        on_tx!(self, c => sqlx::query(SQL).bind(&l.id).bind(&l.project_id).bind(&l.user_id).bind(&l.lock_context).bind(&l.resource_type)
            .bind(&l.resource_id).bind(&l.resource_action).bind(&l.lock_reason).bind(l.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// None leaves a column as it is. False: no such lock.
    pub async fn resource_lock_update(
        &mut self,
        id: &str,
        action: Option<LockedAction>,
        reason: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE resource_locks SET updated_at = ");
        sql.bind(now);
        if let Some(action) = action {
            sql.push(", resource_action = ").bind(action.as_str());
        }
        if let Some(reason) = reason {
            sql.push(", lock_reason = ").bind(Value::Text(reason.map(str::to_owned)));
        }
        sql.push(" WHERE id = ").bind(id);
        self.run(sql).await
    }

    /// False: no such lock.
    pub async fn resource_lock_remove(&mut self, id: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM resource_locks WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }
}
