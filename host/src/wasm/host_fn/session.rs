//! `session`: short-lived values that the instances of one back end in one process share, such as an array's log-in token.
//!
//! In memory only. A new driver or configuration gets a new, empty session, so nothing outlives a reload or a changed
//! secret, while calls in flight on the old incarnation keep theirs. Versions never repeat: compare-and-swap has no ABA.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How much one back end may keep.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    pub value_bytes: usize,
    pub keys: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { value_bytes: 64 << 10, keys: 256 }
    }
}

/// A value and the version it was written with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    pub value: Vec<u8>,
    pub version: u64,
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("the value is too large")]
    TooLarge,
    #[error("too many keys")]
    TooMany,
    #[error("a key is 1 to 255 bytes of printable ASCII")]
    InvalidKey,
}

/// How a compare-and-swap ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSwap {
    Swapped(u64),
    Differs(Option<SessionEntry>),
}

struct Slot {
    entry: SessionEntry,
    until: Option<Instant>,
}

#[derive(Default)]
struct State {
    slots: HashMap<String, Slot>,
    last: u64,
}

/// The session of one back end's incarnation.
pub struct Session {
    limits: SessionLimits,
    state: Mutex<State>,
}

impl Session {
    pub fn new(limits: SessionLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    pub fn get(&self, key: &str) -> Option<SessionEntry> {
        self.with(|state, _| state.slots.get(key).map(|s| s.entry.clone()))
    }

    /// Writes whatever is there; answers the new version.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn put(&self, key: &str, value: Vec<u8>, ttl: Option<Duration>) -> Result<u64, SessionError> {
        self.with(|state, now| state.write(self.limits, key, value, ttl, now))
    }

    /// Writes only over `expected`; none: only where nothing is.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<u64>,
        value: Vec<u8>,
        ttl: Option<Duration>,
    ) -> Result<SessionSwap, SessionError> {
        self.with(|state, now| {
            let found = state.slots.get(key).map(|s| s.entry.clone());
            if found.as_ref().map(|e| e.version) != expected {
                return Ok(SessionSwap::Differs(found));
            }
            state.write(self.limits, key, value, ttl, now).map(SessionSwap::Swapped)
        })
    }

    pub fn delete(&self, key: &str) {
        self.with(|state, _| state.slots.remove(key));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.with(|state, _| state.slots.clear());
    }

    /// Runs `f` on what has not expired.
    fn with<R>(&self, f: impl FnOnce(&mut State, Instant) -> R) -> R {
        // a panic while holding this lock leaves whole entries: what is there is usable
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        state.slots.retain(|_, s| s.until.is_none_or(|until| now < until));
        f(&mut state, now)
    }
}

impl State {
    fn write(
        &mut self,
        limits: SessionLimits,
        key: &str,
        value: Vec<u8>,
        ttl: Option<Duration>,
        now: Instant,
    ) -> Result<u64, SessionError> {
        if !super::keys::is_key(key) {
            return Err(SessionError::InvalidKey);
        }
        if value.len() > limits.value_bytes {
            return Err(SessionError::TooLarge);
        }
        if self.slots.len() >= limits.keys && !self.slots.contains_key(key) {
            return Err(SessionError::TooMany);
        }
        self.last += 1;
        let entry = SessionEntry { value, version: self.last };
        // a time to live beyond the clock's range is none at all
        let until = ttl.and_then(|t| now.checked_add(t));
        self.slots.insert(key.to_owned(), Slot { entry, until });
        Ok(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session::new(SessionLimits { value_bytes: 8, keys: 2 })
    }

    #[test]
    fn a_value_is_read_back_until_its_time_is_over() {
        let s = session();
        s.put("token", b"abc".to_vec(), None).unwrap();
        s.put("brief", b"x".to_vec(), Some(Duration::ZERO)).unwrap();
        assert_eq!(s.get("token").unwrap().value, b"abc");
        assert_eq!(s.get("brief"), None);
    }

    #[test]
    fn of_two_that_log_in_at_once_one_wins_and_the_other_sees_its_token() {
        let s = session();
        let SessionSwap::Swapped(first) = s.compare_and_swap("token", None, b"one".to_vec(), None).unwrap() else {
            panic!("the first write must win")
        };
        let lost = s.compare_and_swap("token", None, b"two".to_vec(), None).unwrap();
        assert_eq!(lost, SessionSwap::Differs(Some(SessionEntry { value: b"one".to_vec(), version: first })));
        assert!(matches!(s.compare_and_swap("token", Some(first), b"new".to_vec(), None).unwrap(), SessionSwap::Swapped(v) if v > first));
    }

    #[test]
    fn a_version_never_comes_back_after_a_delete() {
        let s = session();
        let first = s.put("k", b"a".to_vec(), None).unwrap();
        s.delete("k");
        assert!(s.put("k", b"a".to_vec(), None).unwrap() > first);
    }

    #[test]
    fn limits_refuse_without_forgetting_what_is_there() {
        let s = session();
        s.put("a", b"1".to_vec(), None).unwrap();
        s.put("b", b"2".to_vec(), None).unwrap();
        assert_eq!(s.put("c", b"3".to_vec(), None), Err(SessionError::TooMany));
        assert_eq!(s.put("a", vec![0; 9], None), Err(SessionError::TooLarge));
        assert_eq!(s.put("", b"3".to_vec(), None), Err(SessionError::InvalidKey));
        assert_eq!(s.put("k\u{e9}y", b"3".to_vec(), None), Err(SessionError::InvalidKey));
        assert_eq!(s.get("a").unwrap().value, b"1");
        assert!(s.put("a", b"4".to_vec(), None).is_ok());
        s.clear();
        assert_eq!(s.get("a"), None);
    }
}
