//! One subscriber for the tests that read what the service logs: a process has only one.

use std::sync::Once;

use tracing_subscriber::{Layer, filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{events, statements};

/// From here on events of the outbox and statements of the store are recorded.
pub fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let events = events::Recorder.with_filter(filter_fn(|m| m.target() == "stowage::event"));
        let statements = statements::Recorder.with_filter(filter_fn(|m| m.target() == "sqlx::query"));
        tracing_subscriber::registry().with(events).with(statements).init();
    });
}
