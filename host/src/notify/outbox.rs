//! Delivering the outbox.

use std::{collections::HashSet, sync::Arc, time::Duration};

use super::{Event, Sink};
use crate::{
    config::WebhookConfig,
    jobs::backoff,
    store::{Store, StoreResult},
};

/// Events taken from the table at a time.
const BATCH: i64 = 256;

/// As [`deliver_to`], without a webhook.
///
/// # Errors
/// As there.
pub async fn deliver_due(store: &Store, sinks: &[Arc<dyn Sink>]) -> StoreResult<usize> {
    deliver_to(store, sinks, None).await
}

/// Delivers what is due, and queues for the webhook what it wants of it; how many events went out. Called by the process
/// that holds the duty, never twice at once.
///
/// # Errors
/// A store error leaves the rows: events already handed to a sink come again.
pub async fn deliver_to(store: &Store, sinks: &[Arc<dyn Sink>], webhook: Option<&WebhookConfig>) -> StoreResult<usize> {
    let mut total = 0;
    loop {
        let events = store.due_events(BATCH).await?;
        let full = i64::try_from(events.len()).unwrap_or(0) == BATCH;
        let delivered = deliver_batch(store, sinks, webhook, &events).await?;
        total += delivered;
        if !full || delivered == 0 {
            return Ok(total);
        }
    }
}

async fn deliver_batch(store: &Store, sinks: &[Arc<dyn Sink>], webhook: Option<&WebhookConfig>, events: &[Event]) -> StoreResult<usize> {
    let mut queued: Vec<i64> = Vec::new();
    let mut delivered: Vec<i64> = Vec::with_capacity(events.len());
    let mut failed: Vec<(i64, Duration)> = Vec::new();
    let mut held: HashSet<&str> = HashSet::new();
    for event in events {
        if held.contains(event.resource_id.as_str()) {
            continue; // a later event of a resource whose earlier one did not get through
        }
        if to_all(sinks, event).await {
            delivered.push(event.seq);
            if webhook.is_some_and(|w| w.wants(&event.event_type)) {
                queued.push(event.seq);
            }
        } else {
            held.insert(&event.resource_id);
            failed.push((event.seq, backoff(event.attempts + 1)));
        }
    }
    if delivered.is_empty() && failed.is_empty() {
        return Ok(0);
    }
    let mut tx = store.begin().await?;
    tx.queue_for_webhook(&queued).await?;
    tx.remove_events(&delivered).await?;
    for (seq, after) in failed {
        tx.retry_event(seq, after).await?;
    }
    tx.commit().await?;
    Ok(delivered.len())
}

async fn to_all(sinks: &[Arc<dyn Sink>], event: &Event) -> bool {
    for sink in sinks {
        if let Err(e) = sink.deliver(event).await {
            metrics::counter!("stowage_outbox_failures_total", "sink" => sink.name()).increment(1);
            tracing::warn!(event_id = %event.id, event_type = %event.event_type, error = %e, "event not delivered; it is tried again");
            return false;
        }
    }
    metrics::counter!("stowage_outbox_delivered_total").increment(1);
    true
}
