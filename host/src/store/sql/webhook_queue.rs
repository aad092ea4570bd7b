//! Events that the webhook has not taken yet, and how it does.
//!
//! The outbox fills the queue in the transaction that empties the outbox, so an event is in one of them. Order holds per
//! resource as it does there.

use std::time::Duration;

use serde_json::json;

use crate::{
    clock::{Micros, micros},
    notify::{Event, NewEvent, webhook::LOST},
    store::{
        Store, StoreResult, Tx,
        bind::Sql,
        on_read, on_tx,
        sql::outbox::{self, Queue},
    },
};

/// How the webhook does.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct WebhookState {
    /// Rounds in a row that delivered nothing.
    pub failures: i64,
    /// Nothing is sent before.
    pub paused_until: Micros,
    /// Why the last round that failed did.
    pub reason: String,
    pub delivered: i64,
    pub delivered_at: Option<Micros>,
    /// Events that were dropped.
    pub lost: i64,
}

/// What waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct Waiting {
    pub waiting: i64,
    /// Of these, refused at least once.
    pub refused: i64,
    /// Of all, from before the time asked about.
    pub old: i64,
    pub oldest_at: Option<Micros>,
}

impl Store {
    /// The next events to post, in order; none behind a failed one of the same resource.
    pub async fn due_webhook_events(&self, limit: i64) -> StoreResult<Vec<Event>> {
        self.due_in(Queue::Webhook, limit).await
    }

    pub async fn webhook_state(&self) -> StoreResult<WebhookState> {
        let sql = "SELECT failures, paused_until, reason, delivered, delivered_at, lost FROM webhook_state";
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_one(p).await?))
    }

    pub async fn webhook_waiting(&self, before: Micros) -> StoreResult<Waiting> {
        // what tells of lost events is none itself
        let sql = "SELECT COUNT(*) AS waiting, COALESCE(SUM(CASE WHEN attempts > 0 THEN 1 ELSE 0 END), 0) AS refused, \
                       COALESCE(SUM(CASE WHEN created_at < $1 THEN 1 ELSE 0 END), 0) AS old, MIN(created_at) AS oldest_at \
                   FROM webhook_queue WHERE event_type <> $2";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(before).bind(LOST).fetch_one(p).await?))
    }
}

impl Tx {
    /// Copies events of the outbox into the queue, in their order.
    pub async fn queue_for_webhook(&mut self, seqs: &[i64]) -> StoreResult<()> {
        if seqs.is_empty() {
            return Ok(());
        }
        let mut sql = Sql::new(
            "INSERT INTO webhook_queue (id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts, next_at) \
             SELECT id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, 0, created_at \
             FROM outbox WHERE seq IN ",
        );
        sql.bind_list(seqs.iter().copied()).push(" ORDER BY seq");
        self.run(sql).await?;
        Ok(())
    }

    /// These were taken.
    pub async fn webhook_took(&mut self, seqs: &[i64], now: Micros) -> StoreResult<()> {
        let mut sql = Sql::new("DELETE FROM webhook_queue WHERE seq IN ");
        sql.bind_list(seqs.iter().copied());
        self.run(sql).await?;
        let sql = "UPDATE webhook_state SET delivered = delivered + $1, delivered_at = $2, failures = 0, paused_until = 0, reason = ''";
        let n = i64::try_from(seqs.len()).unwrap_or(i64::MAX);
        on_tx!(self, c => sqlx::query(sql).bind(n).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Tries an event again after `after`.
    pub async fn retry_webhook_event(&mut self, seq: i64, after: Duration) -> StoreResult<()> {
        let sql = self.dialect().sql("UPDATE webhook_queue SET attempts = attempts + 1, next_at = {now} + $2 WHERE seq = $1");
        on_tx!(self, c => sqlx::query(sql).bind(seq).bind(micros(after)).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Every event is due.
    pub async fn webhook_all_due(&mut self) -> StoreResult<()> {
        let sql = "UPDATE webhook_queue SET next_at = created_at WHERE attempts > 0";
        on_tx!(self, c => sqlx::query(sql).execute(c).await?.rows_affected());
        Ok(())
    }

    /// A round delivered nothing; how many did so in a row.
    pub async fn webhook_failed(&mut self, reason: &str) -> StoreResult<i64> {
        let sql = "UPDATE webhook_state SET failures = failures + 1, reason = $1 RETURNING failures";
        let (failures,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(reason).fetch_one(c).await?);
        Ok(failures)
    }

    /// Nothing is sent before `until`.
    pub async fn webhook_pause(&mut self, until: Micros) -> StoreResult<()> {
        let sql = "UPDATE webhook_state SET paused_until = $1";
        on_tx!(self, c => sqlx::query(sql).bind(until).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Drops what is from before `before`, and the oldest beyond, `most` in all; an event says how many were lost so far. How
    /// many went.
    pub async fn webhook_drop(&mut self, before: Micros, most: i64) -> StoreResult<i64> {
        // what says so is no loss itself, and is written anew
        let sql = "DELETE FROM webhook_queue WHERE event_type = $1";
        on_tx!(self, c => sqlx::query(sql).bind(LOST).execute(c).await?.rows_affected());
        let sql = "DELETE FROM webhook_queue WHERE created_at < $1 OR seq IN (SELECT seq FROM webhook_queue ORDER BY seq LIMIT $2)";
        let dropped = on_tx!(self, c => sqlx::query(sql).bind(before).bind(most).execute(c).await?.rows_affected());
        let dropped = i64::try_from(dropped).unwrap_or(i64::MAX);
        let sql = "UPDATE webhook_state SET lost = lost + $1 RETURNING lost";
        let (lost,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(dropped).fetch_one(c).await?);
        let told = NewEvent {
            event_type: LOST.to_owned(),
            resource_kind: "webhook",
            resource_id: LOST.to_owned(),
            payload: json!({ "lost": lost }),
            ..NewEvent::default()
        };
        outbox::insert(self, Queue::Webhook, &told).await?;
        Ok(dropped)
    }
}
