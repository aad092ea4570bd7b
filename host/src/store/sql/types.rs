//! Volume types, share types and share group types: their extra specs, and which projects may use a private one. One set of
//! tables each, all of one shape.

use std::collections::HashMap;

use sqlx::AssertSqlSafe;

use crate::{
    clock::Micros,
    domain::text_enum,
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value, push_contains},
        keyset::{self, ListKey, Order},
        on_read, on_tx,
    },
};

/// Whose types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeOf {
    Volume,
    Share,
    ShareGroup,
}

impl TypeOf {
    /// Replaces `{types}`, `{specs}`, `{access}`, `{in_use}`, which stands for what keeps a type, and `{qos}`.
    fn sql(self, text: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(self.named(text))
    }

    /// As [`Self::sql`], of a statement put together at run time.
    fn statement(self, sql: Sql) -> Sql {
        Sql { text: self.named(&sql.text), ..sql }
    }

    fn named(self, text: &str) -> String {
        let (types, specs, access) = match self {
            Self::Volume => ("volume_types", "volume_type_specs", "volume_type_access"),
            Self::Share => ("share_types", "share_type_specs", "share_type_access"),
            Self::ShareGroup => ("share_group_types", "share_group_type_specs", "share_group_type_access"),
        };
        let in_use = match self {
            // or is on its way to it
            Self::Volume => "SELECT CAST(1 AS BIGINT) FROM volumes WHERE volume_type_id = $1 OR retype_to = $1",
            Self::Share => {
                "SELECT CAST(1 AS BIGINT) FROM shares WHERE share_type_id = $1 \
                 UNION ALL SELECT CAST(1 AS BIGINT) FROM share_group_type_share_types WHERE share_type_id = $1"
            }
            // there are no groups
            Self::ShareGroup => "SELECT CAST(1 AS BIGINT) FROM share_group_types WHERE id = $1 AND FALSE",
        };
        // the others have none
        let qos = if self == Self::Volume { "t.qos_specs_id" } else { "CAST(NULL AS TEXT)" };
        text.replace("{qos}", qos)
            .replace("{types}", types)
            .replace("{specs}", specs)
            .replace("{access}", access)
            .replace("{in_use}", in_use)
    }
}

/// A type without its specs.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct TypeRow {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub is_public: bool,
    /// Of volume types.
    pub qos_specs_id: Option<String>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

/// A type with its specs, by key.
#[derive(Debug, Clone)]
pub struct Type {
    pub row: TypeRow,
    pub specs: Vec<(String, String)>,
}

impl Type {
    /// The specs as borrowed pairs.
    pub fn specs(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.specs.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
    /// One spec's value.
    pub fn spec(&self, key: &str) -> Option<&str> {
        self.specs().find(|(k, _)| *k == key).map(|(_, v)| v)
    }
}

text_enum! {
    /// What types can be sorted by.
    pub enum TypeSort {
        Id = "id",
        Name = "name",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        IsPublic = "is_public",
    }
}

impl ListKey for TypeSort {
    type Row = TypeRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "t.id",
            Self::Name => "t.name",
            Self::CreatedAt => "t.created_at",
            Self::UpdatedAt => "COALESCE(t.updated_at, 0)",
            Self::IsPublic => "t.is_public",
        }
    }
    fn value(self, t: &TypeRow) -> Value {
        match self {
            Self::Id => Value::from(t.id.as_str()),
            Self::Name => Value::from(t.name.as_str()),
            Self::CreatedAt => Value::from(t.created_at),
            Self::UpdatedAt => Value::from(t.updated_at.unwrap_or(0)),
            Self::IsPublic => Value::from(t.is_public),
        }
    }
}

/// A list to be read.
#[derive(Debug, Clone, Default)]
pub struct TypeQuery {
    /// Only what this project may use; none for all.
    pub visible_to: Option<String>,
    pub is_public: Option<bool>,
    pub name: Option<String>,
    /// What the name has in it.
    pub name_part: Option<String>,
    pub specs: Vec<(String, String)>,
    pub order: Vec<Order>,
    pub after: Option<Vec<Value>>,
    pub limit: i64,
    pub offset: i64,
}

const SELECT: &str = "SELECT t.id, t.name, t.description, t.is_public, {qos} AS qos_specs_id, t.created_at, t.updated_at FROM {types} t";

impl Store {
    pub async fn resource_type(&self, of: TypeOf, id: &str) -> StoreResult<Option<Type>> {
        self.type_where(of, "t.id", id).await
    }

    pub async fn type_by_name(&self, of: TypeOf, name: &str) -> StoreResult<Option<Type>> {
        self.type_where(of, "t.name", name).await
    }

    async fn type_where(&self, of: TypeOf, column: &'static str, value: &str) -> StoreResult<Option<Type>> {
        let sql = of.sql(&format!("{SELECT} WHERE {column} = $1"));
        let row: Option<TypeRow> = on_read!(self, p => sqlx::query_as(sql).bind(value).fetch_optional(p).await?);
        Ok(self.with_specs(of, row.into_iter().collect()).await?.pop())
    }

    /// Whether a project may use a private type.
    pub async fn type_granted(&self, of: TypeOf, type_id: &str, project_id: &str) -> StoreResult<bool> {
        let sql = of.sql("SELECT COUNT(*) FROM {access} WHERE type_id = $1 AND project_id = $2");
        let (n,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(type_id).bind(project_id).fetch_one(p).await?);
        Ok(n > 0)
    }

    pub async fn resource_types(&self, of: TypeOf, query: &TypeQuery) -> StoreResult<Vec<Type>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        if let Some(project) = &query.visible_to {
            sql.push(" AND (t.is_public OR EXISTS (SELECT 1 FROM {access} a WHERE a.type_id = t.id AND a.project_id = ");
            sql.bind(project.as_str()).push("))");
        }
        if let Some(public) = query.is_public {
            sql.push(" AND t.is_public = ").bind(public);
        }
        if let Some(name) = &query.name {
            sql.push(" AND t.name = ").bind(name.as_str());
        }
        if let Some(part) = &query.name_part {
            push_contains(&mut sql, "t", "name", part);
        }
        for (key, value) in &query.specs {
            sql.push(" AND EXISTS (SELECT 1 FROM {specs} s WHERE s.type_id = t.id AND s.key = ").bind(key.as_str());
            sql.push(" AND s.value = ").bind(value.as_str()).push(")");
        }
        keyset::push_page(&mut sql, &query.order, query.after.as_deref(), query.limit, query.offset);
        let rows = self.fetch_all(of.statement(sql)).await?;
        self.with_specs(of, rows).await
    }

    /// The projects a private type was given to.
    pub async fn type_projects(&self, of: TypeOf, type_id: &str) -> StoreResult<Vec<String>> {
        let sql = of.sql("SELECT project_id FROM {access} WHERE type_id = $1 ORDER BY project_id");
        let rows: Vec<(String,)> = on_read!(self, p => sqlx::query_as(sql).bind(type_id).fetch_all(p).await?);
        Ok(rows.into_iter().map(|(p,)| p).collect())
    }

    async fn with_specs(&self, of: TypeOf, rows: Vec<TypeRow>) -> StoreResult<Vec<Type>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new("SELECT type_id, key, value FROM {specs} WHERE type_id IN ");
        sql.bind_list(rows.iter().map(|r| r.id.as_str())).push(" ORDER BY type_id, key");
        let found: Vec<(String, String, String)> = self.fetch_all(of.statement(sql)).await?;
        let mut specs: HashMap<String, Vec<(String, String)>> = HashMap::new();
        for (id, key, value) in found {
            specs.entry(id).or_default().push((key, value));
        }
        Ok(rows.into_iter().map(|row| Type { specs: specs.remove(&row.id).unwrap_or_default(), row }).collect())
    }
}

impl Tx {
    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) when the name is taken.
    pub async fn type_insert(&mut self, of: TypeOf, t: &TypeRow, specs: &[(String, String)]) -> StoreResult<()> {
        let sql = of.sql("INSERT INTO {types} (id, name, description, is_public, created_at) VALUES ($1, $2, $3, $4, $5)");
        on_tx!(self, c => sqlx::query(sql).bind(&t.id).bind(&t.name).bind(&t.description).bind(t.is_public).bind(t.created_at).execute(c).await?.rows_affected());
        self.type_specs_put(of, &t.id, specs).await
    }

    /// Inserts unless a type of this name exists; for what every installation starts with.
    pub async fn type_ensure(&mut self, of: TypeOf, t: &TypeRow, specs: &[(String, String)]) -> StoreResult<bool> {
        let sql = of.sql(
            "INSERT INTO {types} (id, name, description, is_public, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING",
        );
        let made = on_tx!(self, c => sqlx::query(sql).bind(&t.id).bind(&t.name).bind(&t.description).bind(t.is_public).bind(t.created_at)
            .execute(c).await?.rows_affected())
            == 1;
        if made {
            self.type_specs_put(of, &t.id, specs).await?;
        }
        Ok(made)
    }

    /// none leaves a column as it is. False: no such type.
    pub async fn type_update(
        &mut self,
        of: TypeOf,
        id: &str,
        name: Option<&str>,
        description: Option<Option<&str>>,
        is_public: Option<bool>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE {types} SET updated_at = ");
        sql.bind(now);
        if let Some(name) = name {
            sql.push(", name = ").bind(name);
        }
        if let Some(description) = description {
            sql.push(", description = ").bind(Value::Text(description.map(str::to_owned)));
        }
        if let Some(public) = is_public {
            sql.push(", is_public = ").bind(public);
        }
        sql.push(" WHERE id = ").bind(id);
        self.run(of.statement(sql)).await
    }

    /// The type's name, which stays this until the transaction ends: figures are kept under it. None: no such type.
    pub async fn type_name_kept(&mut self, of: TypeOf, id: &str) -> StoreResult<Option<String>> {
        let sql = of.sql(&self.dialect().expand("SELECT name FROM {types} WHERE id = $1 {for_share}"));
        let row: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?);
        Ok(row.map(|(name,)| name))
    }

    /// Whether the type's specs are still these. They stay so until the transaction ends when it keeps the type's name
    /// ([`Self::type_name_kept`]) before it asks.
    pub async fn type_specs_are(&mut self, of: TypeOf, id: &str, specs: &[(String, String)]) -> StoreResult<bool> {
        let sql = of.sql("SELECT key, value FROM {specs} WHERE type_id = $1");
        let mut now: Vec<(String, String)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_all(c).await?);
        let mut then = specs.to_vec();
        now.sort_unstable();
        then.sort_unstable();
        Ok(now == then)
    }

    /// The type's name, for a transaction that renames or removes it: whoever adds or removes a resource of it has ended or
    /// waits. None: no such type.
    pub async fn type_locked(&mut self, of: TypeOf, id: &str) -> StoreResult<Option<String>> {
        let sql = of.sql(&self.dialect().expand("SELECT name FROM {types} WHERE id = $1 {for_update}"));
        let row: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?);
        Ok(row.map(|(name,)| name))
    }

    /// Removes a type that nothing has; false when it is gone or in use. The caller holds it ([`Self::type_locked`]), so that
    /// nothing of it is on its way.
    pub async fn type_remove(&mut self, of: TypeOf, id: &str) -> StoreResult<bool> {
        let sql = of.sql("DELETE FROM {types} WHERE id = $1 AND NOT EXISTS ({in_use})");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Whether something has it, or is on its way to it.
    pub async fn type_in_use(&mut self, of: TypeOf, id: &str) -> StoreResult<bool> {
        let sql = of.sql("{in_use} LIMIT 1");
        let found: Option<(i64,)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?);
        Ok(found.is_some())
    }

    /// The specs as they stand in this transaction; none when there is no such type. Holds the type's row on PostgreSQL.
    pub async fn type_specs_locked(&mut self, of: TypeOf, id: &str) -> StoreResult<Option<Vec<(String, String)>>> {
        let sql = of.sql("UPDATE {types} SET name = name WHERE id = $1");
        let found = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        if found == 0 {
            return Ok(None);
        }
        let sql = of.sql("SELECT key, value FROM {specs} WHERE type_id = $1 ORDER BY key");
        Ok(Some(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_all(c).await?)))
    }

    pub async fn type_specs_put(&mut self, of: TypeOf, id: &str, specs: &[(String, String)]) -> StoreResult<()> {
        for (key, value) in specs {
            let sql = of.sql(
                "INSERT INTO {specs} (type_id, key, value) VALUES ($1, $2, $3) ON CONFLICT (type_id, key) DO UPDATE SET value = EXCLUDED.value",
            );
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(key).bind(value).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    pub async fn type_spec_remove(&mut self, of: TypeOf, id: &str, key: &str) -> StoreResult<bool> {
        let sql = of.sql("DELETE FROM {specs} WHERE type_id = $1 AND key = $2");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(key).execute(c).await?.rows_affected()) == 1)
    }

    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) when the project has it already.
    pub async fn type_grant(&mut self, of: TypeOf, id: &str, project_id: &str) -> StoreResult<()> {
        let sql = of.sql("INSERT INTO {access} (type_id, project_id) VALUES ($1, $2)");
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(project_id).execute(c).await?.rows_affected());
        Ok(())
    }

    pub async fn type_withdraw(&mut self, of: TypeOf, id: &str, project_id: &str) -> StoreResult<bool> {
        let sql = of.sql("DELETE FROM {access} WHERE type_id = $1 AND project_id = $2");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(project_id).execute(c).await?.rows_affected()) == 1)
    }
}
