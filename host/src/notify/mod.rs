//! Telling others what happened: events through the outbox, messages to the user who asked.
//!
//! An event is a row written by the transaction that makes it true, so nothing is told that did not happen and nothing that
//! happened is left untold. Delivery is at least once and in order per resource; a sink must cope with a repetition (the
//! event's id tells). When a sink fails, the event and the later ones of its resource wait with back-off; other resources
//! go on. One process delivers at a time, under a duty lease; when it dies, another takes over after the lease.
//! What can be slow or gone, the [`webhook`], has a queue of its own, which the outbox fills.

pub mod log_sink;
pub mod message;
pub mod outbox;
pub mod share_message;
pub mod webhook;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::clock::Micros;

/// An event to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewEvent {
    /// Upstream's notification name: `volume.create.end`.
    pub event_type: String,
    pub resource_kind: &'static str,
    pub resource_id: String,
    pub project_id: String,
    pub user_id: String,
    pub request_id: String,
    /// Holds no secret.
    pub payload: Value,
}

/// An event on its way to the sinks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Event {
    #[serde(skip)]
    pub seq: i64,
    /// The same at every delivery.
    pub id: String,
    pub event_type: String,
    pub resource_kind: String,
    pub resource_id: String,
    pub project_id: String,
    pub user_id: String,
    pub request_id: String,
    pub payload: Value,
    pub created_at: Micros,
    #[serde(skip)]
    pub attempts: i64,
}

/// Why a sink did not take an event. It is tried again.
#[derive(Debug, thiserror::Error)]
#[error("{sink}: {reason}")]
pub struct SinkError {
    pub sink: &'static str,
    pub reason: String,
}

/// Where events go.
pub trait Sink: Send + Sync {
    fn name(&self) -> &'static str;
    /// Takes one event. May see it again.
    fn deliver<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>>;
}
