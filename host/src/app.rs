//! The composition root: what the running service is made of.

use crate::{clock::Micros, jobs::Jobs, store::Store};

/// The running service. One per process, behind an `Arc`.
pub struct App {
    pub store: Store,
    /// The queue, and this process's part in the work.
    pub jobs: Jobs,
    /// When this process started.
    pub started_at: Micros,
}
