//! Events posted to an HTTP receiver: CloudEvents 1.0 in structured JSON, signed.
//!
//! Invariants: at least once (the receiver knows a repetition by its id), in order per resource, and never on the way of a
//! request: events come from a queue of the webhook's own, which the outbox fills, so that a receiver that is gone holds up
//! nothing else. An event that is not taken waits with back-off, and the later ones of its resource wait behind it. A round
//! in which nothing was taken pauses the whole webhook. The queue is bounded in number and age; what is dropped is counted,
//! and the receiver is told so by an event.

mod cloud_event;
mod send;
mod sign;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures::{StreamExt, future::BoxFuture};
use indexmap::IndexMap;

pub use send::{Refusal, Sender, SenderError};
pub use sign::Key;

use super::Event;
use crate::{
    clock,
    config::WebhookConfig,
    jobs::backoff,
    store::{Store, StoreResult},
};

/// What the receiver is told when events were dropped.
pub const LOST: &str = "stowage.events.lost";
/// Events taken from the queue at a time.
const BATCH: i64 = 256;
/// How long a round begins new requests.
const BUDGET: Duration = Duration::from_secs(5);
/// The longest pause a receiver may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How long a round may take: no other process begins one before.
pub fn longest_round(config: &WebhookConfig) -> Duration {
    BUDGET + config.timeout + Duration::from_secs(5)
}

/// What a round came to.
#[derive(Debug, Default)]
pub struct Round {
    pub delivered: usize,
    /// Why it delivered nothing, though there was something.
    pub trouble: Option<String>,
}

/// Posts what is due, for a few seconds at most. Called by the process that holds the duty, never twice at once.
///
/// # Errors
/// A store error leaves the rows: events that the receiver has come again.
pub async fn round(store: &Store, sender: &Sender) -> StoreResult<Round> {
    let state = store.webhook_state().await?;
    if state.paused_until > clock::now() {
        return Ok(Round { delivered: 0, trouble: Some(state.reason) });
    }
    let (began, mut total) = (Instant::now(), Round::default());
    while began.elapsed() < BUDGET {
        let events = store.due_webhook_events(BATCH).await?;
        let full = i64::try_from(events.len()).unwrap_or(0) == BATCH;
        if events.is_empty() {
            break;
        }
        let posted = post_all(sender, &events, began).await;
        let delivered = settle(store, &posted).await?;
        total.delivered += delivered;
        if delivered == 0
            && let Some(refusal) = posted.iter().find_map(|(_, outcome)| outcome.as_ref().err())
        {
            total.trouble = Some(refusal.to_string());
        }
        if delivered == 0 || !full {
            break;
        }
    }
    Ok(total)
}

type Posted<'a> = Vec<(&'a Event, Result<(), Refusal>)>;

/// One lane a resource, some lanes at once. Events that were not begun are in no list.
async fn post_all<'a>(sender: &Sender, events: &'a [Event], began: Instant) -> Posted<'a> {
    let mut lanes: IndexMap<&str, Vec<&'a Event>> = IndexMap::new();
    for event in events {
        lanes.entry(&event.resource_id).or_default().push(event);
    }
    let failed_in_a_row = AtomicUsize::new(0);
    let mut all: Vec<BoxFuture<'_, Posted<'a>>> = Vec::with_capacity(lanes.len());
    for lane in lanes.into_values() {
        all.push(Box::pin(post_lane(sender, lane, &failed_in_a_row, began)));
    }
    futures::stream::iter(all).buffer_unordered(sender.concurrency()).concat().await
}

/// The events of one resource, one after another.
async fn post_lane<'a>(sender: &Sender, lane: Vec<&'a Event>, failed_in_a_row: &AtomicUsize, began: Instant) -> Posted<'a> {
    let mut posted = Vec::with_capacity(lane.len());
    for event in lane {
        // a receiver that is gone is not asked once for each resource
        if failed_in_a_row.load(Ordering::Relaxed) >= sender.concurrency() || began.elapsed() >= BUDGET {
            break;
        }
        let outcome = sender.post(event).await;
        let failed = outcome.is_err();
        posted.push((event, outcome));
        if failed {
            failed_in_a_row.fetch_add(1, Ordering::Relaxed);
            break; // the later ones of its resource wait
        }
        failed_in_a_row.store(0, Ordering::Relaxed);
    }
    posted
}

/// Writes what became of the events; how many were taken.
async fn settle(store: &Store, posted: &Posted<'_>) -> StoreResult<usize> {
    let taken: Vec<i64> = posted.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(event, _)| event.seq).collect();
    let refused: Vec<(&Event, &Refusal)> = posted.iter().filter_map(|(event, o)| Some((*event, o.as_ref().err()?))).collect();
    let mut tx = store.begin().await?;
    if !taken.is_empty() {
        tx.webhook_took(&taken, clock::now()).await?;
    }
    for (event, refusal) in &refused {
        tracing::debug!(event_id = %event.id, event_type = %event.event_type, error = %refusal, "the webhook did not take an event");
        tx.retry_webhook_event(event.seq, backoff(event.attempts + 1)).await?;
    }
    let asked = refused.iter().filter_map(|(_, refusal)| refusal.retry_after).max().map(|pause| pause.min(LONGEST_PAUSE));
    if let Some((_, last)) = refused.last()
        && (taken.is_empty() || asked.is_some())
    {
        let failures = tx.webhook_failed(&last.to_string()).await?;
        let pause = backoff(failures).max(asked.unwrap_or_default());
        tx.webhook_pause(clock::now() + clock::micros(pause)).await?;
    }
    tx.commit().await?;
    metrics::counter!("stowage_webhook_delivered_total").increment(taken.len() as u64);
    metrics::counter!("stowage_webhook_failures_total").increment(refused.len() as u64);
    Ok(taken.len())
}

/// Keeps the queue within its bounds: what is too old or too much is dropped, oldest first. How many wait, how many went.
///
/// # Errors
/// Of the store.
pub async fn trim(store: &Store, config: &WebhookConfig) -> StoreResult<(i64, i64)> {
    let oldest = clock::now() - clock::micros(config.max_age);
    let waiting = store.webhook_waiting(oldest).await?;
    let surplus = (waiting.waiting - waiting.old - i64::from(config.max_backlog)).max(0);
    if waiting.old == 0 && surplus == 0 {
        return Ok((waiting.waiting, 0));
    }
    let mut tx = store.begin().await?;
    let dropped = tx.webhook_drop(oldest, waiting.old + surplus).await?;
    tx.commit().await?;
    metrics::counter!("stowage_webhook_lost_total").increment(u64::try_from(dropped).unwrap_or(0));
    Ok((waiting.waiting - dropped, dropped))
}
