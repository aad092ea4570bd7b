//! Who calls a driver, and until when.

use std::time::{Duration, Instant};

use crate::jobs::Lease;

/// What travels with every driver call. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Call {
    /// The id of this piece of work: the same when it is repeated, so that a driver can use it as an idempotency key.
    /// For a job, its id; for a job that does several calls, its id and the step.
    pub operation_id: String,
    /// Goes up when another worker takes the work over.
    pub generation: u64,
    /// `req-<uuid>` of the user's request.
    pub request_id: String,
    /// The call is ended at this moment, answer or not. The back end's own time limit may end it earlier.
    pub deadline: Instant,
    /// Once this process no longer owns the work, the host sends nothing more for it.
    pub lease: Lease,
}

impl Call {
    pub fn new(operation_id: impl Into<String>, generation: u64, request_id: impl Into<String>, budget: Duration, lease: Lease) -> Self {
        let now = Instant::now();
        // an absurd budget is a year, not an overflow
        let deadline = now.checked_add(budget).unwrap_or_else(|| now + Duration::from_secs(365 * 86_400));
        Self { operation_id: operation_id.into(), generation, request_id: request_id.into(), deadline, lease }
    }

    /// A call of the host's own (statistics, loading) that belongs to no request and no lease.
    pub fn internal(operation_id: impl Into<String>, budget: Duration) -> Self {
        let request_id = format!("req-{}", uuid::Uuid::new_v4());
        Self::new(operation_id, 0, request_id, budget, Lease::unbounded())
    }

    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The same work with at most `budget` left.
    #[must_use]
    pub fn within(&self, budget: Duration) -> Self {
        let mut call = self.clone();
        if let Some(earlier) = Instant::now().checked_add(budget) {
            call.deadline = call.deadline.min(earlier);
        }
        call
    }

    /// A later step of the same job: the operation id gets a suffix.
    #[must_use]
    pub fn step(&self, name: &str) -> Self {
        let mut call = self.clone();
        call.operation_id = format!("{}:{name}", self.operation_id);
        call
    }
}
