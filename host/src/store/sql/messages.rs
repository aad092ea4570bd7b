//! User messages: why an accepted request ended badly, for the user who made it. The texts are `notify/message.rs`.

use std::time::Duration;

use sqlx::AssertSqlSafe;

use crate::{
    clock::{Micros, micros},
    domain::text_enum,
    notify::{message::NewMessage, share_message::NewShareMessage},
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value, push_contains},
        keyset::{self, ListKey, Order},
        on_read, on_tx,
        sql::backends::BackendKind,
    },
};

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct MessageRow {
    pub id: String,
    pub project_id: String,
    pub request_id: String,
    pub resource_type: String,
    pub resource_id: String,
    pub action_id: String,
    pub detail_id: String,
    /// `VOLUME_VOLUME_001_003`
    pub event_id: String,
    /// `ERROR`
    pub level: String,
    pub extra: String,
    pub created_at: Micros,
    pub expires_at: Micros,
}

text_enum! {
    /// What messages can be sorted by.
    pub enum MessageSort {
        Id = "id",
        CreatedAt = "created_at",
        EventId = "event_id",
        ResourceUuid = "resource_uuid",
        ResourceType = "resource_type",
        RequestId = "request_id",
        GuaranteedUntil = "guaranteed_until",
        MessageLevel = "message_level",
        ActionId = "action_id",
        DetailId = "detail_id",
    }
}

impl MessageSort {
    /// What the block API sorts messages by.
    pub const BLOCK: [Self; 8] = [
        Self::Id,
        Self::CreatedAt,
        Self::EventId,
        Self::ResourceUuid,
        Self::ResourceType,
        Self::RequestId,
        Self::GuaranteedUntil,
        Self::MessageLevel,
    ];
}

impl ListKey for MessageSort {
    type Row = MessageRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::CreatedAt => "created_at",
            Self::EventId => "event_id",
            Self::ResourceUuid => "resource_id",
            Self::ResourceType => "resource_type",
            Self::RequestId => "request_id",
            Self::GuaranteedUntil => "expires_at",
            Self::MessageLevel => "level",
            Self::ActionId => "action_id",
            Self::DetailId => "detail_id",
        }
    }
    fn value(self, m: &MessageRow) -> Value {
        match self {
            Self::Id => Value::from(m.id.as_str()),
            Self::CreatedAt => Value::from(m.created_at),
            Self::EventId => Value::from(m.event_id.as_str()),
            Self::ResourceUuid => Value::from(m.resource_id.as_str()),
            Self::ResourceType => Value::from(m.resource_type.as_str()),
            Self::RequestId => Value::from(m.request_id.as_str()),
            Self::GuaranteedUntil => Value::from(m.expires_at),
            Self::MessageLevel => Value::from(m.level.as_str()),
            Self::ActionId => Value::from(m.action_id.as_str()),
            Self::DetailId => Value::from(m.detail_id.as_str()),
        }
    }
}

/// One condition of a list. Column names come from tables of ours, never from the client.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageFilter {
    Equals(&'static str, Value),
    /// A column of texts has this in it, letter by letter.
    Contains(&'static str, String),
    /// Made then or later.
    Since(Micros),
    /// Made then or before.
    Until(Micros),
    /// Nothing matches.
    Never,
}

/// A list to be read.
#[derive(Debug, Clone, Default)]
pub struct MessageQuery {
    /// Whose messages: the block service's, or the share service's.
    pub service: BackendKind,
    pub filters: Vec<MessageFilter>,
    /// Those that have expired by then are left out.
    pub now: Micros,
    /// Columns of [`MessageSort`], the id last.
    pub order: Vec<Order>,
    /// The marker's values in that order.
    pub after: Option<Vec<Value>>,
    pub limit: i64,
    pub offset: i64,
}

/// A message as it is written.
struct Insert<'a> {
    service: BackendKind,
    resource_type: &'static str,
    resource_id: &'a str,
    project_id: &'a str,
    request_id: &'a str,
    action_id: &'static str,
    detail_id: &'static str,
    event_id: &'a str,
    extra: &'a str,
}

const COLUMNS: &str =
    "id, project_id, request_id, resource_type, resource_id, action_id, detail_id, event_id, level, extra, created_at, expires_at";

impl Store {
    /// A message of this service.
    pub async fn message(&self, service: BackendKind, id: &str) -> StoreResult<Option<MessageRow>> {
        let sql = AssertSqlSafe(format!("SELECT {COLUMNS} FROM messages WHERE id = $1 AND service = $2"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).bind(service.as_str()).fetch_optional(p).await?))
    }

    /// A page of messages.
    pub async fn messages(&self, query: &MessageQuery) -> StoreResult<Vec<MessageRow>> {
        let mut sql = Sql::new(format!("SELECT {COLUMNS} FROM messages WHERE service = "));
        sql.bind(query.service.as_str()).push(" AND expires_at > ").bind(query.now);
        for filter in &query.filters {
            match filter {
                MessageFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
                MessageFilter::Contains(column, part) => push_contains(&mut sql, "messages", column, part),
                MessageFilter::Since(at) => sql.push(" AND created_at >= ").bind(*at),
                MessageFilter::Until(at) => sql.push(" AND created_at <= ").bind(*at),
                MessageFilter::Never => sql.push(" AND 1 = 0"),
            };
        }
        keyset::push_page(&mut sql, &query.order, query.after.as_deref(), query.limit, query.offset);
        self.fetch_all(sql).await
    }
}

impl Tx {
    /// Adds a message of the block service for the user; its id.
    pub async fn add_message(&mut self, message: &NewMessage) -> StoreResult<String> {
        let event_id = message.event_id();
        self.insert_message(&Insert {
            service: BackendKind::Block,
            resource_type: message.resource.name(),
            resource_id: &message.resource_id,
            project_id: &message.project_id,
            request_id: &message.request_id,
            action_id: message.action.id(),
            detail_id: message.detail.id(),
            event_id: &event_id,
            extra: &message.extra,
        })
        .await
    }

    /// Adds a message of the share service for the user; its id.
    pub async fn add_share_message(&mut self, message: &NewShareMessage) -> StoreResult<String> {
        self.insert_message(&Insert {
            service: BackendKind::Share,
            resource_type: message.resource.name(),
            resource_id: &message.resource_id,
            project_id: &message.project_id,
            request_id: &message.request_id,
            action_id: message.action.id(),
            detail_id: message.detail.id(),
            // the share API has none
            event_id: "",
            extra: &message.extra,
        })
        .await
    }

    async fn insert_message(&mut self, m: &Insert<'_>) -> StoreResult<String> {
        let id = uuid::Uuid::new_v4().to_string();
        let sql = self.dialect().sql(
            "INSERT INTO messages (id, project_id, request_id, resource_type, resource_id, action_id, detail_id, event_id, level, extra, service, created_at, expires_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'ERROR', $9, $10, n.at, n.at + $11 FROM (SELECT {now} AS at) n",
        );
        on_tx!(self, c => sqlx::query(sql)
            .bind(&id)
            .bind(m.project_id)
            .bind(m.request_id)
            .bind(m.resource_type)
            .bind(m.resource_id)
            .bind(m.action_id)
            .bind(m.detail_id)
            .bind(m.event_id)
            .bind(m.extra)
            .bind(m.service.as_str())
            .bind(micros(crate::notify::message::TTL))
            .execute(c)
            .await?
            .rows_affected());
        Ok(id)
    }

    /// Deletes one message; false when it was not there.
    pub async fn delete_message(&mut self, id: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM messages WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Deletes expired messages, at most `limit`; how many. `grace` is zero in service.
    pub async fn purge_messages(&mut self, grace: Duration, limit: i64) -> StoreResult<u64> {
        let sql = self
            .dialect()
            .sql("DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE expires_at <= {now} - $1 ORDER BY expires_at LIMIT $2)");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(micros(grace)).bind(limit).execute(c).await?.rows_affected()))
    }
}
