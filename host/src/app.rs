//! The composition root: what the running service is made of.

use crate::{clock::Micros, store::Store};

/// The running service. One per process, behind an `Arc`.
pub struct App {
    pub store: Store,
    /// When this process started.
    pub started_at: Micros,
}
