//! Events as log lines.

use futures::future::BoxFuture;

use super::{Event, Sink, SinkError};

/// Writes each event at info level, target `stowage::event`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogSink;

impl Sink for LogSink {
    fn name(&self) -> &'static str {
        "log"
    }

    fn deliver<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(async move {
            tracing::info!(
                target: "stowage::event",
                event_id = %event.id,
                event_type = %event.event_type,
                resource_id = %event.resource_id,
                project_id = %event.project_id,
                request_id = %event.request_id,
                payload = %event.payload,
                "event"
            );
            Ok(())
        })
    }
}
