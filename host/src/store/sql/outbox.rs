//! Events on their way out. A row is written by the transaction that makes it true and deleted once every sink has it.
//!
//! Order holds per resource: rows of one resource are written under that resource's own row lock, so `seq` follows their
//! commits, and a row whose delivery failed holds back the later ones of its resource alone.

use std::time::Duration;

use serde_json::Value;
use sqlx::AssertSqlSafe;

use crate::{
    clock::{Micros, micros},
    notify::{Event, NewEvent},
    store::{Store, StoreError, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

#[derive(sqlx::FromRow)]
struct OutboxRow {
    seq: i64,
    id: String,
    event_type: String,
    resource_kind: String,
    resource_id: String,
    project_id: String,
    user_id: String,
    request_id: String,
    payload: String,
    created_at: Micros,
    attempts: i64,
}

impl TryFrom<OutboxRow> for Event {
    type Error = StoreError;
    fn try_from(r: OutboxRow) -> StoreResult<Self> {
        let payload: Value = serde_json::from_str(&r.payload).map_err(|e| StoreError::Corrupt(format!("outbox: {e}")))?;
        Ok(Self {
            seq: r.seq,
            id: r.id,
            event_type: r.event_type,
            resource_kind: r.resource_kind,
            resource_id: r.resource_id,
            project_id: r.project_id,
            user_id: r.user_id,
            request_id: r.request_id,
            payload,
            created_at: r.created_at,
            attempts: r.attempts,
        })
    }
}

/// A table of events on their way: the outbox, and the queue of what can be slow or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    Outbox,
    Webhook,
}

impl Queue {
    const fn table(self) -> &'static str {
        match self {
            Self::Outbox => "outbox",
            Self::Webhook => "webhook_queue",
        }
    }
}

/// Appends an event.
pub(super) async fn insert(tx: &mut Tx, queue: Queue, event: &NewEvent) -> StoreResult<()> {
    let sql = tx.dialect().expand(
        "INSERT INTO {table} (id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts, next_at) \
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, n.at, 0, n.at FROM (SELECT {now} AS at) n",
    );
    let sql = AssertSqlSafe(sql.replace("{table}", queue.table()));
    let id = uuid::Uuid::new_v4().to_string();
    let payload = event.payload.to_string();
    on_tx!(tx, c => sqlx::query(sql)
        .bind(&id)
        .bind(&event.event_type)
        .bind(event.resource_kind)
        .bind(&event.resource_id)
        .bind(&event.project_id)
        .bind(&event.user_id)
        .bind(&event.request_id)
        .bind(&payload)
        .execute(c)
        .await?
        .rows_affected());
    Ok(())
}

impl Store {
    /// The next events to deliver, in order; none behind a failed one of the same resource.
    pub async fn due_events(&self, limit: i64) -> StoreResult<Vec<Event>> {
        self.due_in(Queue::Outbox, limit).await
    }

    /// As [`Store::due_events`], of any queue.
    pub(super) async fn due_in(&self, queue: Queue, limit: i64) -> StoreResult<Vec<Event>> {
        let sql = self.dialect().expand(
            "SELECT seq, id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts FROM {table} e \
             WHERE e.next_at <= {now} AND NOT EXISTS (SELECT 1 FROM {table} o WHERE o.resource_id = e.resource_id AND o.seq < e.seq AND o.next_at > {now}) \
             ORDER BY e.seq LIMIT $1",
        );
        let sql = AssertSqlSafe(sql.replace("{table}", queue.table()));
        let rows: Vec<OutboxRow> = on_read!(self, p => sqlx::query_as(sql).bind(limit).fetch_all(p).await?);
        rows.into_iter().map(Event::try_from).collect()
    }
}

impl Tx {
    /// Writes an event; it is delivered after this transaction commits, and never when it rolls back.
    pub async fn publish(&mut self, event: &NewEvent) -> StoreResult<()> {
        insert(self, Queue::Outbox, event).await
    }

    /// Deletes delivered events.
    pub async fn remove_events(&mut self, seqs: &[i64]) -> StoreResult<()> {
        if seqs.is_empty() {
            return Ok(());
        }
        let mut sql = Sql::new("DELETE FROM outbox WHERE seq IN ");
        sql.bind_list(seqs.iter().copied());
        self.run(sql).await?;
        Ok(())
    }

    /// Tries an event again after `after`.
    pub async fn retry_event(&mut self, seq: i64, after: Duration) -> StoreResult<()> {
        let sql = self.dialect().sql("UPDATE outbox SET attempts = attempts + 1, next_at = {now} + $2 WHERE seq = $1");
        on_tx!(self, c => sqlx::query(sql).bind(seq).bind(micros(after)).execute(c).await?.rows_affected());
        Ok(())
    }
}
