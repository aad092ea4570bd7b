//! What the catalog knows besides the live incarnations: loaded drivers, configured back ends, why something is down.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use crate::{
    clock::{self, Micros},
    config::BackendConfig,
    driver::{backend::Backend, loader::Driver},
};

const FIRST_RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(120);
/// Finished drains that stay visible.
const KEEP_DRAINS: usize = 32;

#[derive(Default)]
pub(super) struct Book {
    /// By the stem of the file's name.
    pub drivers: BTreeMap<String, DriverEntry>,
    /// By the back end's own name.
    pub backends: BTreeMap<String, BackendEntry>,
    pub drains: Vec<Drain>,
}

/// One driver name.
#[derive(Default)]
pub(super) struct DriverEntry {
    pub loaded: Option<Arc<dyn Driver>>,
    pub since: Micros,
    pub forced: bool,
    /// The newest bytes that were refused, until good ones come.
    pub refused: Option<Refusal>,
}

pub(super) struct Refusal {
    pub sha256: String,
    pub reason: String,
    pub at: Micros,
    /// When the same bytes of the database are tried again.
    pub retry_at: Instant,
}

/// One configured back end.
pub(super) struct BackendEntry {
    /// What it should be.
    pub config: Arc<BackendConfig>,
    pub since: Micros,
    /// It does not serve.
    pub down: Option<Down>,
    /// It serves, but not as it is configured now.
    pub held_back: Option<HeldBack>,
}

/// A change that could not be made, to be tried again.
pub(super) struct HeldBack {
    pub reason: String,
    pub since: Micros,
    pub attempts: u32,
    pub retry_at: Instant,
    /// None: it should be gone.
    pub wanted: Option<Arc<BackendConfig>>,
}

pub(super) struct Down {
    pub reason: String,
    pub since: Micros,
    pub attempts: u32,
    pub retry_at: Instant,
}

/// An incarnation that was replaced.
pub(super) struct Drain {
    pub host: String,
    pub sha256: String,
    pub began: Micros,
    pub ended: Option<Micros>,
    pub old: Weak<Backend>,
}

impl BackendEntry {
    pub fn new(config: Arc<BackendConfig>) -> Self {
        Self { config, since: clock::now(), down: None, held_back: None }
    }

    /// It serves as configured.
    pub fn up(&mut self) {
        self.since = clock::now();
        self.down = None;
        self.held_back = None;
    }

    /// It does not serve; the next try comes later with each failure.
    pub fn fails(&mut self, reason: impl Into<String>) {
        let attempts = self.down.as_ref().map_or(0, |d| d.attempts);
        let since = self.down.as_ref().map_or_else(clock::now, |d| d.since);
        self.down = Some(Down { reason: reason.into(), since, attempts: attempts.saturating_add(1), retry_at: next_try(attempts) });
    }

    /// It goes on serving as it was, though `wanted` says otherwise.
    pub fn hold_back(&mut self, wanted: Option<Arc<BackendConfig>>, reason: impl Into<String>) {
        let (attempts, since) =
            self.held_back.as_ref().filter(|h| h.wanted == wanted).map_or_else(|| (0, clock::now()), |h| (h.attempts, h.since));
        let retry_at = next_try(attempts);
        self.held_back = Some(HeldBack { reason: reason.into(), since, attempts: attempts.saturating_add(1), retry_at, wanted });
    }
}

fn next_try(attempts: u32) -> Instant {
    Instant::now() + FIRST_RETRY.saturating_mul(1 << attempts.min(10)).min(LONGEST_RETRY)
}

impl Refusal {
    pub fn new(sha256: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { sha256: sha256.into(), reason: reason.into(), at: clock::now(), retry_at: Instant::now() + Duration::from_secs(15) }
    }
}

impl Book {
    /// Configurations that name a driver.
    pub fn users_of(&self, driver: &str) -> Vec<Arc<BackendConfig>> {
        self.backends.values().filter(|b| b.config.driver == driver).map(|b| b.config.clone()).collect()
    }

    /// Drops the oldest finished drains.
    pub fn trim_drains(&mut self) {
        while self.drains.len() > KEEP_DRAINS {
            let Some(at) = self.drains.iter().position(|d| d.ended.is_some()) else { return };
            self.drains.remove(at);
        }
    }
}
