//! A worker's hold on its jobs, as this process knows it.
//!
//! The truth is the worker's row, by the database's clock. The copy here ends no later than the row: it counts from before
//! the heartbeat was sent, on the monotonic clock. A process that was stopped and wakes therefore sees at once, without
//! asking, that its time has passed. Whatever leaves the process for a job asks the lease right before ([`Lease::is_held`]),
//! or runs beside [`Lease::cancelled`] in a biased `select!`, which looks at the clock each time the task goes on.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
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
pub struct Lease {
    inner: Arc<Inner>,
    lost: CancellationToken,
    /// Of one piece of work: nobody wants what it comes to. It may still send and write; it should end soon.
    unwanted: CancellationToken,
}

#[derive(Debug)]
struct Inner {
    worker: String,
    until: AtomicU64,
}

impl Lease {
    /// A lease that ends at `until`, or never (SQLite: the file's lock is the lease).
    pub fn new(worker: String, until: Option<Instant>) -> Self {
        let inner = Inner { worker, until: AtomicU64::new(until.map_or(NEVER, since_epoch)) };
        Self { inner: Arc::new(inner), lost: CancellationToken::new(), unwanted: CancellationToken::new() }
    }
    /// The lease as one piece of work has it: lost with this one, and by itself.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), lost: self.lost.child_token(), unwanted: self.unwanted.clone() }
    }
    /// The lease for another piece of work, which is wanted.
    #[must_use]
    pub fn for_work(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), lost: self.lost.clone(), unwanted: CancellationToken::new() }
    }
    /// Cancelled once nobody wants what the piece of work comes to.
    pub fn unwanted(&self) -> &CancellationToken {
        &self.unwanted
    }
    /// The worker's id as it stands in the rows.
    pub fn worker(&self) -> &str {
        &self.inner.worker
    }
    /// Whether this process may act for the worker's jobs at this instant. Ask right before anything leaves the process.
    pub fn is_held(&self) -> bool {
        !self.lost.is_cancelled() && since_epoch(Instant::now()) < self.inner.until.load(Ordering::Acquire)
    }
    /// Cancelled once the lease is lost. Notices a moment later than [`Self::is_held`].
    pub fn token(&self) -> &CancellationToken {
        &self.lost
    }
    /// The opposite of [`Self::is_held`], named as a cancellation token names it.
    pub fn is_cancelled(&self) -> bool {
        !self.is_held()
    }
    /// Returns once the lease is lost or its time has passed. The passing of time alone wakes nobody; but polled first in a
    /// biased `select!`, it keeps what stands after it from going on.
    pub async fn cancelled(&self) {
        let mut lost = pin!(self.lost.cancelled());
        poll_fn(|cx| if self.is_held() { lost.as_mut().poll(cx) } else { Poll::Ready(()) }).await;
    }
    /// For calls that belong to no job: always held.
    pub fn unbounded() -> Self {
        Self::new(String::new(), None)
    }
    /// How long it still lasts without another heartbeat.
    pub(super) fn left(&self) -> Duration {
        Duration::from_micros(self.inner.until.load(Ordering::Acquire).saturating_sub(since_epoch(Instant::now())))
    }
    pub(super) fn extend(&self, until: Instant) {
        self.inner.until.fetch_max(since_epoch(until), Ordering::AcqRel);
    }
    /// The work is another's from now on.
    pub fn lose(&self) {
        self.lost.cancel();
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

    #[tokio::test]
    async fn work_beside_the_lease_does_not_go_on_once_its_time_has_passed() {
        let lease = Lease::new("w".into(), Some(Instant::now() + Duration::from_millis(50)));
        let mut steps = 0;
        let work = async {
            loop {
                steps += 1;
                // as after SIGCONT: time has passed, and nobody has lost the lease yet
                std::thread::sleep(Duration::from_millis(60));
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = lease.cancelled() => {}
            () = work => {}
        }
        assert_eq!((steps, lease.token().is_cancelled()), (1, false));
    }

    #[test]
    fn a_piece_of_work_loses_its_lease_with_the_workers_and_by_itself() {
        let lease = Lease::unbounded();
        let (one, other) = (lease.child(), lease.child());
        one.lose();
        assert!(!one.is_held() && other.is_held() && lease.is_held());
        lease.lose();
        assert!(!other.is_held());
    }

    #[test]
    fn one_piece_of_work_is_unwanted_without_the_next() {
        let lease = Lease::unbounded();
        let one = lease.for_work();
        let next = one.for_work();
        one.child().unwanted().cancel();
        assert!(one.unwanted().is_cancelled() && one.is_held());
        assert!(!next.unwanted().is_cancelled() && !lease.unwanted().is_cancelled());
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
