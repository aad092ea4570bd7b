//! QoS specs: pairs that a type's volumes are limited by, at the back end or where they are attached.

use std::collections::{BTreeMap, HashMap};

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

text_enum! {
    /// Who keeps the limits.
    pub enum Consumer {
        FrontEnd = "front-end",
        BackEnd = "back-end",
        Both = "both",
    }
}

impl Consumer {
    pub const fn is_front_end(self) -> bool {
        matches!(self, Self::FrontEnd | Self::Both)
    }
    pub const fn is_back_end(self) -> bool {
        matches!(self, Self::BackEnd | Self::Both)
    }
}

#[derive(Debug, Clone, sqlx::FromRow)]
pub struct QosSpecsRow {
    pub id: String,
    pub name: String,
    pub consumer: String,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

/// QoS specs with their pairs.
#[derive(Debug, Clone)]
pub struct QosSpecs {
    pub row: QosSpecsRow,
    pub specs: BTreeMap<String, String>,
}

impl QosSpecs {
    pub fn consumer(&self) -> Option<Consumer> {
        Consumer::parse(&self.row.consumer)
    }
    /// The pairs that the back end keeps to.
    pub fn at_the_back_end(self) -> Option<BTreeMap<String, String>> {
        self.consumer().is_some_and(Consumer::is_back_end).then_some(self.specs)
    }
    /// The pairs that whoever attaches keeps to.
    pub fn at_the_front_end(self) -> Option<BTreeMap<String, String>> {
        self.consumer().is_some_and(Consumer::is_front_end).then_some(self.specs)
    }
}

text_enum! {
    /// What QoS specs can be sorted by.
    pub enum QosSort {
        Id = "id",
        Name = "name",
        Consumer = "consumer",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
    }
}

impl ListKey for QosSort {
    type Row = QosSpecsRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Consumer => "consumer",
            Self::CreatedAt => "created_at",
            Self::UpdatedAt => "COALESCE(updated_at, 0)",
        }
    }
    fn value(self, q: &QosSpecsRow) -> Value {
        match self {
            Self::Id => Value::from(q.id.as_str()),
            Self::Name => Value::from(q.name.as_str()),
            Self::Consumer => Value::from(q.consumer.as_str()),
            Self::CreatedAt => Value::from(q.created_at),
            Self::UpdatedAt => Value::from(q.updated_at.unwrap_or(0)),
        }
    }
}

/// A list to be read.
#[derive(Debug, Clone, Default)]
pub struct QosQuery {
    pub consumer: Option<String>,
    pub order: Vec<Order>,
    pub after: Option<Vec<Value>>,
    pub limit: i64,
    pub offset: i64,
}

const SELECT: &str = "SELECT id, name, consumer, created_at, updated_at FROM qos_specs";

impl Store {
    pub async fn qos_specs(&self, id: &str) -> StoreResult<Option<QosSpecs>> {
        let sql = format!("{SELECT} WHERE id = $1");
        let row: Option<QosSpecsRow> = on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(p).await?);
        Ok(self.with_pairs(row.into_iter().collect()).await?.pop())
    }

    pub async fn all_qos_specs(&self, query: &QosQuery) -> StoreResult<Vec<QosSpecs>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        if let Some(consumer) = &query.consumer {
            sql.push(" AND consumer = ").bind(consumer.as_str());
        }
        keyset::push_page(&mut sql, &query.order, query.after.as_deref(), query.limit, query.offset);
        let rows: Vec<QosSpecsRow> = self.fetch_all(sql).await?;
        self.with_pairs(rows).await
    }

    /// The QoS specs of a type.
    pub async fn qos_specs_of_type(&self, type_id: &str) -> StoreResult<Option<QosSpecs>> {
        let sql = "SELECT q.id, q.name, q.consumer, q.created_at, q.updated_at FROM qos_specs q JOIN volume_types t ON t.qos_specs_id = q.id WHERE t.id = $1";
        let row: Option<QosSpecsRow> = on_read!(self, p => sqlx::query_as(sql).bind(type_id).fetch_optional(p).await?);
        Ok(self.with_pairs(row.into_iter().collect()).await?.pop())
    }

    /// Id and name of the types that have these QoS specs.
    pub async fn types_of_qos_specs(&self, qos_id: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT id, name FROM volume_types WHERE qos_specs_id = $1 ORDER BY name";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(qos_id).fetch_all(p).await?))
    }

    async fn with_pairs(&self, rows: Vec<QosSpecsRow>) -> StoreResult<Vec<QosSpecs>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new("SELECT qos_id, key, value FROM qos_spec_pairs WHERE qos_id IN ");
        sql.bind_list(rows.iter().map(|r| r.id.as_str()));
        let found: Vec<(String, String, String)> = self.fetch_all(sql).await?;
        let mut pairs: HashMap<String, BTreeMap<String, String>> = HashMap::new();
        for (id, key, value) in found {
            pairs.entry(id).or_default().insert(key, value);
        }
        Ok(rows.into_iter().map(|row| QosSpecs { specs: pairs.remove(&row.id).unwrap_or_default(), row }).collect())
    }
}

impl Tx {
    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) when the name is taken.
    pub async fn qos_specs_insert(&mut self, q: &QosSpecs) -> StoreResult<()> {
        let sql = "INSERT INTO qos_specs (id, name, consumer, created_at) VALUES ($1, $2, $3, $4)";
        let row = &q.row;
        on_tx!(self, c => sqlx::query(sql).bind(&row.id).bind(&row.name).bind(&row.consumer).bind(row.created_at).execute(c).await?.rows_affected());
        self.qos_pairs_put(&row.id, &q.specs).await
    }

    /// Holds the specs until the transaction ends: whoever changes them, their pairs or who has them holds them first. False:
    /// no such specs.
    pub async fn qos_specs_hold(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "UPDATE qos_specs SET consumer = consumer WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Keys of the pairs as this transaction sees them.
    pub async fn qos_keys(&mut self, id: &str) -> StoreResult<Vec<String>> {
        let sql = "SELECT key FROM qos_spec_pairs WHERE qos_id = $1";
        let keys: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_all(c).await?);
        Ok(keys.into_iter().map(|(key,)| key).collect())
    }

    /// Changes consumer (if given) and pairs. Holds the row; false: no such specs.
    pub async fn qos_specs_update(
        &mut self,
        id: &str,
        consumer: Option<Consumer>,
        specs: &BTreeMap<String, String>,
        now: Micros,
    ) -> StoreResult<bool> {
        let sql = "UPDATE qos_specs SET consumer = COALESCE($2, consumer), updated_at = $3 WHERE id = $1";
        let found =
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(consumer.map(Consumer::as_str)).bind(now).execute(c).await?.rows_affected());
        if found == 1 {
            self.qos_pairs_put(id, specs).await?;
        }
        Ok(found == 1)
    }

    async fn qos_pairs_put(&mut self, id: &str, specs: &BTreeMap<String, String>) -> StoreResult<()> {
        let sql = "INSERT INTO qos_spec_pairs (qos_id, key, value) VALUES ($1, $2, $3) ON CONFLICT (qos_id, key) DO UPDATE SET value = EXCLUDED.value";
        for (key, value) in specs {
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(key).bind(value).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    pub async fn qos_pair_remove(&mut self, id: &str, key: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM qos_spec_pairs WHERE qos_id = $1 AND key = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(key).execute(c).await?.rows_affected()) == 1)
    }

    /// Removes specs that no type has; false when they are gone or in use.
    pub async fn qos_specs_remove(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM qos_specs WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM volume_types t WHERE t.qos_specs_id = qos_specs.id)";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Gives the type these specs unless it has others; false when it has.
    pub async fn qos_associate(&mut self, id: &str, type_id: &str) -> StoreResult<bool> {
        let sql = "UPDATE volume_types SET qos_specs_id = $1 WHERE id = $2 AND (qos_specs_id IS NULL OR qos_specs_id = $1)";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(type_id).execute(c).await?.rows_affected()) == 1)
    }

    /// Takes the specs from one type, or from all; how many had them.
    pub async fn qos_disassociate(&mut self, id: &str, type_id: Option<&str>) -> StoreResult<u64> {
        let sql = "UPDATE volume_types SET qos_specs_id = NULL WHERE qos_specs_id = $1 AND ($2 IS NULL OR id = $2)";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(type_id).execute(c).await?.rows_affected()))
    }
}
