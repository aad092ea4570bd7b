//! The block service's parts as operators see them: one `cinder-volume` a back end, and the scheduler.

pub mod failover;
pub mod host;
pub mod list;
pub mod toggle;

/// The binary of a back end.
pub const VOLUME: &str = "cinder-volume";
/// The binary of the part that places.
pub const SCHEDULER: &str = "cinder-scheduler";
