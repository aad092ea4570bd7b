//! Failed log-ins, counted per user and address.
//!
//! Only failures count, so a busy service user is never held up; a success starts the count anew. The count is this
//! process's own: with n processes an attacker has n times as many tries. Someone who guesses from another address cannot
//! lock the user out.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use moka::sync::Cache;

use crate::error::{Error, Kind, Result};

/// Counts failures; the window begins with the first.
pub struct Limiter {
    failures: Cache<(String, Option<IpAddr>), Arc<AtomicU32>>,
    most: u32,
    window: Duration,
}

impl Limiter {
    /// `most` 0: no limit.
    pub fn new(most: u32, window: Duration) -> Self {
        Self { failures: Cache::builder().max_capacity(100_000).time_to_live(window).build(), most, window }
    }

    /// # Errors
    /// [`Kind::TooManyRequests`] after too many failures.
    pub fn check(&self, user: &str, peer: Option<IpAddr>) -> Result<()> {
        let failed = self.failures.get(&key(user, peer)).map_or(0, |n| n.load(Ordering::Relaxed));
        if self.most > 0 && failed >= self.most {
            let wait = self.window.as_secs().max(1);
            return Err(Error::new(
                Kind::TooManyRequests,
                format!("Too many failed log-ins of this user from this address; try again in {wait} seconds."),
            ));
        }
        Ok(())
    }
    pub fn failed(&self, user: &str, peer: Option<IpAddr>) {
        self.failures.get_with(key(user, peer), Arc::default).fetch_add(1, Ordering::Relaxed);
    }
    pub fn succeeded(&self, user: &str, peer: Option<IpAddr>) {
        self.failures.invalidate(&key(user, peer));
    }
}

fn key(user: &str, peer: Option<IpAddr>) -> (String, Option<IpAddr>) {
    (user.chars().take(255).collect(), peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn refused(l: &Limiter, user: &str, peer: Option<IpAddr>) -> bool {
        l.check(user, peer).is_err_and(|e| e.kind == Kind::TooManyRequests)
    }

    #[test]
    fn so_many_failures_are_enough() {
        let l = Limiter::new(2, Duration::from_secs(60));
        l.failed("u", HERE);
        assert!(!refused(&l, "u", HERE));
        l.failed("u", HERE);
        assert!(refused(&l, "u", HERE));
        assert!(!refused(&l, "other", HERE));
        assert!(!refused(&l, "u", None), "another address is not held up");
    }
    #[test]
    fn a_success_starts_the_count_anew() {
        let l = Limiter::new(2, Duration::from_secs(60));
        l.failed("u", HERE);
        l.succeeded("u", HERE);
        l.failed("u", HERE);
        assert!(!refused(&l, "u", HERE));
    }
    #[test]
    fn zero_is_no_limit() {
        let l = Limiter::new(0, Duration::from_secs(60));
        (0..100).for_each(|_| l.failed("u", HERE));
        assert!(!refused(&l, "u", HERE));
    }
}
