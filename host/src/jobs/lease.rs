//! A worker's hold on its jobs, as this process knows it.
//!
//! The truth is the worker's row, by the database's clock. The copy here ends no later than the row: it counts from before
//! the heartbeat was sent, on the monotonic clock. A process that was stopped and wakes therefore sees at once, without
//! asking, that its time has passed.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);
const NEVER: u64 = u64::MAX;

fn since_epoch(at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(*EPOCH).as_micros()).unwrap_or(NEVER)
}

/// One registration of this process as a worker. Once lost it never comes back; the process registers anew.
#[derive(Debug, Clone)]
pub struct Lease(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    worker: String,
    until: AtomicU64,
    lost: CancellationToken,
}

impl Lease {
    /// A lease that ends at `until`, or never (SQLite: the file's lock is the lease).
    pub fn new(worker: String, until: Option<Instant>) -> Self {
        Self(Arc::new(Inner { worker, until: AtomicU64::new(until.map_or(NEVER, since_epoch)), lost: CancellationToken::new() }))
    }
    /// The worker's id as it stands in the rows.
    pub fn worker(&self) -> &str {
        &self.0.worker
    }
    /// Whether this process may act for the worker's jobs at this instant. Ask right before anything leaves the process.
    pub fn is_held(&self) -> bool {
        !self.0.lost.is_cancelled() && since_epoch(Instant::now()) < self.0.until.load(Ordering::Acquire)
    }
    /// Cancelled once the lease is lost. Notices a moment later than [`Self::is_held`].
    pub fn token(&self) -> &CancellationToken {
        &self.0.lost
    }
    /// The opposite of [`Self::is_held`], named as a cancellation token names it.
    pub fn is_cancelled(&self) -> bool {
        !self.is_held()
    }
    /// Returns once the lease is lost.
    pub async fn cancelled(&self) {
        self.0.lost.cancelled().await;
    }
    /// For calls that belong to no job: always held.
    pub fn unbounded() -> Self {
        Self::new(String::new(), None)
    }
    /// How long it still lasts without another heartbeat.
    pub(super) fn left(&self) -> Duration {
        Duration::from_micros(self.0.until.load(Ordering::Acquire).saturating_sub(since_epoch(Instant::now())))
    }
    pub(super) fn extend(&self, until: Instant) {
        self.0.until.fetch_max(since_epoch(until), Ordering::AcqRel);
    }
    pub(super) fn lose(&self) {
        self.0.lost.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_past_its_time_is_not_held_though_nobody_has_noticed_yet() {
        let lease = Lease::new("w".into(), Some(Instant::now()));
        assert!(!lease.is_held());
        assert!(!lease.token().is_cancelled());
    }

    #[test]
    fn a_lost_lease_stays_lost_when_a_late_heartbeat_extends_it() {
        let lease = Lease::new("w".into(), Some(Instant::now() + Duration::from_secs(60)));
        assert!(lease.is_held());
        lease.lose();
        lease.extend(Instant::now() + Duration::from_secs(600));
        assert!(!lease.is_held());
    }
}
