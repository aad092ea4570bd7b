//! `clock`: the time, and a sleep that never outlasts its call.

use std::{sync::LazyLock, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{clock, jobs::Lease};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
/// A sleeper is woken this long before its deadline, so that it can still answer.
const MARGIN: Duration = Duration::from_millis(200);

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    u64::try_from(clock::now() / 1000).unwrap_or(0)
}

/// Milliseconds since some moment of this process.
pub fn monotonic_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Sleeps; false when woken early: the deadline is near, the work was cancelled, or this process no longer owns it.
pub async fn sleep(ms: u32, deadline: Instant, lease: &Lease, cancelled: &CancellationToken) -> bool {
    let wanted = Instant::now() + Duration::from_millis(u64::from(ms));
    let latest = deadline.checked_sub(MARGIN).unwrap_or(deadline);
    let until = wanted.min(latest);
    tokio::select! {
        biased;
        () = lease.cancelled() => false,
        () = cancelled.cancelled() => false,
        () = tokio::time::sleep_until(until) => wanted <= latest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleep_ends_before_the_deadline_and_says_so() {
        let (lease, cancelled) = (Lease::unbounded(), CancellationToken::new());
        let deadline = Instant::now() + MARGIN + Duration::from_millis(100);
        assert!(sleep(1, deadline, &lease, &cancelled).await);
        assert!(!sleep(600_000, deadline, &lease, &cancelled).await);
        assert!(Instant::now() >= deadline - MARGIN);
    }

    #[tokio::test]
    async fn a_lost_lease_or_a_cancellation_wakes_the_sleeper() {
        let deadline = Instant::now() + Duration::from_secs(3600);
        let (lease, cancelled) = (Lease::unbounded(), CancellationToken::new());
        lease.lose();
        assert!(!sleep(3_000_000, deadline, &lease, &cancelled).await);
        cancelled.cancel();
        assert!(!sleep(3_000_000, deadline, &Lease::unbounded(), &cancelled).await);
    }
}
