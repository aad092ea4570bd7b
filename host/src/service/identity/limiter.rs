//! Failed log-ins, counted per user and address.
//!
//! A try is begun before the password is checked and counts until it has ended well, so that tries at the same time cannot
//! pass the limit together: what is over it waits for those under way, and is refused once they have failed. Only failures
//! stay in the count, so a busy service user is never held up; a success starts the count anew, and a try that came to
//! nothing (the database was busy) gives its place back. The count is this process's own: with n processes an attacker has n
//! times as many tries. Someone who guesses from another address cannot lock the user out.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use moka::sync::Cache;
use tokio::sync::Notify;

use crate::error::{Error, Kind, Result};

/// Counts failures; the window begins with the first.
pub struct Limiter {
    counts: Cache<(String, Option<IpAddr>), Arc<Count>>,
    most: u32,
    window: Duration,
}

/// One user's tries from one address.
#[derive(Default)]
struct Count {
    state: Mutex<State>,
    /// A try has ended.
    ended: Notify,
}

#[derive(Default)]
struct State {
    failed: u32,
    under_way: u32,
    /// When the first of `failed` failed.
    since: Option<Instant>,
}

/// A try under way. Dropped without a verdict it gives its place back.
#[must_use = "a try that is dropped at once limits nothing"]
pub struct Try(Option<Arc<Count>>);

impl Limiter {
    /// `most` 0: no limit.
    pub fn new(most: u32, window: Duration) -> Self {
        // entries end when nobody has tried for a window; the window itself is kept by each count
        Self { counts: Cache::builder().max_capacity(100_000).time_to_idle(window.max(Duration::from_secs(60))).build(), most, window }
    }

    /// Begins a try; waits while others under way may use up what is left.
    ///
    /// # Errors
    /// [`Kind::TooManyRequests`] after too many failures.
    pub async fn begin(&self, user: &str, peer: Option<IpAddr>) -> Result<Try> {
        if self.most == 0 {
            return Ok(Try(None));
        }
        let count = self.counts.get_with((user.chars().take(255).collect(), peer), Arc::default);
        loop {
            let ended = count.ended.notified();
            tokio::pin!(ended);
            // registered before the look, so that an end in between is not missed
            ended.as_mut().enable();
            if self.place(&mut count.state())? {
                return Ok(Try(Some(Arc::clone(&count))));
            }
            ended.await;
        }
    }

    /// Whether there was a place for one more try.
    fn place(&self, state: &mut State) -> Result<bool> {
        let passed = state.since.map_or(Duration::ZERO, |since| since.elapsed());
        if passed >= self.window {
            (state.failed, state.since) = (0, None);
        }
        if state.failed >= self.most {
            let wait = self.window.saturating_sub(passed).as_secs() + 1;
            return Err(Error::new(
                Kind::TooManyRequests,
                format!("Too many failed log-ins of this user from this address; try again in {wait} seconds."),
            ));
        }
        let free = state.failed + state.under_way < self.most;
        state.under_way += u32::from(free);
        Ok(free)
    }
}

impl Count {
    fn state(&self) -> MutexGuard<'_, State> {
        // nothing panics while it is held
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Try {
    /// It was the wrong password.
    pub fn failed(mut self) {
        self.end(|state| {
            state.failed += 1;
            state.since.get_or_insert_with(Instant::now);
        });
    }
    /// It was the right one.
    pub fn succeeded(mut self) {
        self.end(|state| (state.failed, state.since) = (0, None));
    }

    fn end(&mut self, verdict: impl FnOnce(&mut State)) {
        if let Some(count) = self.0.take() {
            {
                let mut state = count.state();
                state.under_way -= 1;
                verdict(&mut state);
            }
            count.ended.notify_waiters();
        }
    }
}

impl Drop for Try {
    fn drop(&mut self) {
        self.end(|_| {});
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
    const MINUTE: Duration = Duration::from_secs(60);

    async fn refused(l: &Limiter, user: &str, peer: Option<IpAddr>) -> bool {
        l.begin(user, peer).await.is_err_and(|e| e.kind == Kind::TooManyRequests)
    }
    async fn fail(l: &Limiter, user: &str) {
        l.begin(user, HERE).await.unwrap().failed();
    }

    #[tokio::test]
    async fn so_many_failures_are_enough() {
        let l = Limiter::new(2, MINUTE);
        fail(&l, "u").await;
        assert!(!refused(&l, "u", HERE).await);
        fail(&l, "u").await;
        assert!(refused(&l, "u", HERE).await);
        assert!(!refused(&l, "other", HERE).await);
        assert!(!refused(&l, "u", None).await, "another address is not held up");
    }

    #[tokio::test]
    async fn a_success_starts_the_count_anew() {
        let l = Limiter::new(2, MINUTE);
        fail(&l, "u").await;
        l.begin("u", HERE).await.unwrap().succeeded();
        fail(&l, "u").await;
        assert!(!refused(&l, "u", HERE).await);
    }

    #[tokio::test]
    async fn a_try_that_came_to_nothing_does_not_count() {
        let l = Limiter::new(1, MINUTE);
        for _ in 0..5 {
            drop(l.begin("u", HERE).await.unwrap());
        }
        assert!(!refused(&l, "u", HERE).await);
    }

    #[tokio::test]
    async fn the_count_ends_with_its_window() {
        let l = Limiter::new(1, Duration::from_millis(50));
        fail(&l, "u").await;
        assert!(refused(&l, "u", HERE).await);
        let begun = Instant::now();
        while refused(&l, "u", HERE).await {
            assert!(begun.elapsed() < MINUTE, "the window does not end");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn zero_is_no_limit() {
        let l = Limiter::new(0, MINUTE);
        for _ in 0..100 {
            fail(&l, "u").await;
        }
        assert!(!refused(&l, "u", HERE).await);
    }

    /// Whatever the number of guesses at once, no more than the limit ever get to the password.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn guesses_at_the_same_time_do_not_pass_the_limit_together() {
        let l = Arc::new(Limiter::new(3, MINUTE));
        let checked = Arc::new(AtomicU32::new(0));
        let guess = |l: Arc<Limiter>, checked: Arc<AtomicU32>| async move {
            let Ok(attempt) = l.begin("u", HERE).await else { return };
            checked.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            attempt.failed();
        };
        let all: Vec<_> = (0..50).map(|_| tokio::spawn(guess(Arc::clone(&l), Arc::clone(&checked)))).collect();
        for one in all {
            one.await.unwrap();
        }
        assert_eq!(checked.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right_passwords_at_the_same_time_all_come_through() {
        let l = Arc::new(Limiter::new(2, MINUTE));
        let log_in = |l: Arc<Limiter>| async move {
            let attempt = l.begin("u", HERE).await.unwrap();
            tokio::task::yield_now().await;
            attempt.succeeded();
        };
        let all: Vec<_> = (0..50).map(|_| tokio::spawn(log_in(Arc::clone(&l)))).collect();
        for one in all {
            one.await.unwrap();
        }
    }
}
