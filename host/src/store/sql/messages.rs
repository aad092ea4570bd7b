//! User messages: why an accepted request ended badly, for the user who made it. The texts are `notify/message.rs`.

use std::time::Duration;

use sqlx::AssertSqlSafe;

use crate::{
    clock::{Micros, micros},
    notify::message::NewMessage,
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, bind_values},
        on_read, on_tx,
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

/// What a list of messages may ask for; `None` is any.
#[derive(Debug, Clone, Default)]
pub struct MessageFilter {
    /// None only for an administrator who lists every project.
    pub project_id: Option<String>,
    pub resource_id: Option<String>,
    pub resource_type: Option<String>,
    pub request_id: Option<String>,
    pub event_id: Option<String>,
    pub level: Option<String>,
}

const COLUMNS: &str =
    "id, project_id, request_id, resource_type, resource_id, action_id, detail_id, event_id, level, extra, created_at, expires_at";

impl Store {
    pub async fn message(&self, id: &str) -> StoreResult<Option<MessageRow>> {
        let sql = AssertSqlSafe(format!("SELECT {COLUMNS} FROM messages WHERE id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    /// Messages, newest first, after (created_at, id) of `after`.
    pub async fn list_messages(&self, filter: &MessageFilter, after: Option<(Micros, &str)>, limit: i64) -> StoreResult<Vec<MessageRow>> {
        let mut sql = Sql::new(format!("SELECT {COLUMNS} FROM messages WHERE 1 = 1"));
        for (column, value) in [
            ("project_id", &filter.project_id),
            ("resource_id", &filter.resource_id),
            ("resource_type", &filter.resource_type),
            ("request_id", &filter.request_id),
            ("event_id", &filter.event_id),
            ("level", &filter.level),
        ] {
            if let Some(v) = value {
                sql.push(" AND ").push(column).push(" = ").bind(v.as_str());
            }
        }
        if let Some((at, id)) = after {
            sql.push(" AND (created_at, id) < (").bind(at).push(", ").bind(id).push(")");
        }
        sql.push(" ORDER BY created_at DESC, id DESC LIMIT ").bind(limit);
        let Sql { text, values } = sql;
        Ok(on_read!(self, p => bind_values!(sqlx::query_as(AssertSqlSafe(text)), values).fetch_all(p).await?))
    }
}

impl Tx {
    /// Adds a message for the user; its id.
    pub async fn add_message(&mut self, message: &NewMessage) -> StoreResult<String> {
        let id = uuid::Uuid::new_v4().to_string();
        let sql = self.dialect().sql(
            "INSERT INTO messages (id, project_id, request_id, resource_type, resource_id, action_id, detail_id, event_id, level, extra, created_at, expires_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, n.at, n.at + $11 FROM (SELECT {now} AS at) n",
        );
        let event_id = message.event_id();
        on_tx!(self, c => sqlx::query(sql)
            .bind(&id)
            .bind(&message.project_id)
            .bind(&message.request_id)
            .bind(message.resource.name())
            .bind(&message.resource_id)
            .bind(message.action.id())
            .bind(message.detail.id())
            .bind(&event_id)
            .bind("ERROR")
            .bind(&message.extra)
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
