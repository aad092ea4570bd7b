//! What the service tells about itself: logs, metrics, health.
//!
//! Nothing here may fail a request: a log line or a sample that cannot be written is dropped.

pub mod health;
pub mod log;
pub mod metrics;
