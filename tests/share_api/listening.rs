//! What the service logged of its outbox and of its statements: a process has one subscriber, so all tests share it.

use std::{
    fmt,
    sync::{Mutex, Once},
};

use serde_json::Value;
use support::statements;
use tracing::{
    Metadata,
    field::{Field, Visit},
    subscriber::Interest,
};
use tracing_subscriber::{Layer, layer::SubscriberExt, util::SubscriberInitExt};

/// (resource, event type, payload)
static TOLD: Mutex<Vec<(String, String, Value)>> = Mutex::new(Vec::new());

/// The events of the whole process so far.
#[derive(Debug, Clone, Copy)]
pub struct Told;

impl Told {
    /// The resources and payloads of one kind of event.
    pub fn iter(self, kind: &str) -> Vec<(String, Value)> {
        TOLD.lock().unwrap().iter().filter(|(_, k, _)| k == kind).map(|(r, _, p)| (r.clone(), p.clone())).collect()
    }
}

/// From here on events are recorded.
pub fn listen() -> Told {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        tracing_subscriber::registry().with(Recorder).init();
    });
    Told
}

struct Recorder;

#[derive(Default)]
struct Fields {
    resource: String,
    kind: String,
    payload: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "resource_id" => self.resource = text,
            "event_type" => self.kind = text,
            "payload" => self.payload = text,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "resource_id" => self.resource = value.to_owned(),
            "event_type" => self.kind = value.to_owned(),
            "payload" => self.payload = value.to_owned(),
            _ => {}
        }
    }
}

const EVENTS: &str = "stowage::event";

fn wanted(metadata: &Metadata<'_>) -> bool {
    [EVENTS, statements::TARGET].contains(&metadata.target())
}

/// Filters for the whole process. A filter of the layer alone loses events: SQLx asks whether its target is listened to without
/// logging then, and the layer takes the answer for that of the next event on the thread.
impl<S: tracing::Subscriber> Layer<S> for Recorder {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if wanted(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: tracing_subscriber::layer::Context<'_, S>) -> bool {
        wanted(metadata)
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if event.metadata().target() == statements::TARGET {
            return statements::keep(event);
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let payload = serde_json::from_str(&fields.payload).unwrap_or_default();
        TOLD.lock().unwrap().push((fields.resource, fields.kind, payload));
    }
}
