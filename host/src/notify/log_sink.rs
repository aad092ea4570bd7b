//! Events as log lines.

use async_trait::async_trait;

use super::{Event, Sink, SinkError};

/// Writes each event at info level, target `stowage::event`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogSink;

#[async_trait]
impl Sink for LogSink {
    fn name(&self) -> &'static str {
        "log"
    }

    async fn deliver(&self, event: &Event) -> Result<(), SinkError> {
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
    }
}
