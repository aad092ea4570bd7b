//! The composition root: what the running service is made of.

use std::sync::Arc;

use crate::{api::auth::TokenSource, clock::Micros, jobs::Jobs, policy::Policy, store::Store};

/// The running service. One per process, behind an `Arc`.
pub struct App {
    pub store: Store,
    /// The queue, and this process's part in the work.
    pub jobs: Jobs,
    /// Who may do what.
    pub policy: Policy,
    /// What a token stands for: the built-in identity or a real Keystone.
    pub tokens: Arc<dyn TokenSource>,
    /// When this process started.
    pub started_at: Micros,
}
