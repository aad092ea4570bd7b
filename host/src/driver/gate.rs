//! The gate in front of one incarnation of a back end: how many calls at once, how many in flight, and quarantine.
//!
//! Every driver call enters here and says how it ended. Invariants: never more calls at once than granted; what the driver
//! says itself, an error included, proves it alive; only misbehaviour (traps, broken limits, deadlines, wrong answers) in a
//! row leads to quarantine. While quarantined, calls are refused at once with the reason, except one when the pause is
//! over: it decides between service and a longer pause. A new incarnation begins with a clean record.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::{
    call::Call,
    error::{DriverError, DriverResult, ErrorKind},
};
use crate::clock::{self, Micros};

/// A deadline that passes sooner says nothing about the driver.
const FAIR_CHANCE: Duration = Duration::from_secs(1);

/// When a back end is left alone, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct HealthPolicy {
    /// Misbehaving calls in a row.
    pub failures: u32,
    pub first_pause: Duration,
    pub longest_pause: Duration,
}

impl Default for HealthPolicy {
    fn default() -> Self {
        Self { failures: 10, first_pause: Duration::from_secs(30), longest_pause: Duration::from_secs(600) }
    }
}

/// Why a back end is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quarantine {
    pub reason: String,
    pub since: Micros,
    /// When the next call is let through.
    pub until: Micros,
}

#[derive(Default)]
struct Health {
    failures: u32,
    rounds: u32,
    quarantine: Option<Quarantine>,
    /// The quarantine's end on the monotonic clock.
    until: Option<Instant>,
    /// A call was let through and has not ended.
    probing: bool,
    lifted: Option<Instant>,
}

/// See the module.
pub struct Gate {
    host: String,
    limit: usize,
    policy: HealthPolicy,
    permits: Arc<Semaphore>,
    in_flight: AtomicUsize,
    idle: Notify,
    health: Mutex<Health>,
}

impl Gate {
    /// `limit` calls at once, at least one.
    pub fn new(host: impl Into<String>, limit: usize) -> Arc<Self> {
        Self::with_policy(host, limit, HealthPolicy::default())
    }

    pub fn with_policy(host: impl Into<String>, limit: usize, policy: HealthPolicy) -> Arc<Self> {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Self {
            host: host.into(),
            limit,
            policy,
            permits: Arc::new(Semaphore::new(limit)),
            in_flight: AtomicUsize::new(0),
            idle: Notify::new(),
            health: Mutex::default(),
        })
    }

    /// Lets a call in, waiting for its turn until its deadline. Say with [`Pass::ended`] how the call ended.
    ///
    /// # Errors
    /// `LeaseLost`, `Quarantined`, or `Saturated` when no turn came in time; nothing was called.
    pub async fn enter(self: &Arc<Self>, call: &Call) -> DriverResult<Pass> {
        self.refuse_if_quarantined()?;
        let turn = tokio::select! {
            biased;
            () = call.lease.cancelled() => return Err(DriverError::lease_lost()),
            turn = tokio::time::timeout(call.remaining(), self.permits.clone().acquire_owned()) => turn,
        };
        let Ok(Ok(permit)) = turn else {
            return Err(DriverError::new(
                ErrorKind::Saturated,
                format!("{}: all {} calls that run at once are taken", self.host, self.limit),
            ));
        };
        let probe = self.admit()?;
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        Ok(Pass { gate: self.clone(), probe, settled: false, admitted: Instant::now(), _permit: permit })
    }

    /// Calls that run now.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Waits until no call runs.
    pub async fn drained(&self) {
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // from here on a wake-up is not missed
            idle.as_mut().enable();
            if self.in_flight() == 0 {
                return;
            }
            idle.await;
        }
    }

    /// The quarantine in force.
    pub fn quarantine(&self) -> Option<Quarantine> {
        self.health().quarantine.clone()
    }

    /// Whether a quarantine's pause is over, so that a probe makes sense.
    pub fn wants_probe(&self) -> bool {
        let health = self.health();
        !health.probing && health.until.is_some_and(|until| Instant::now() >= until)
    }

    fn refuse_if_quarantined(&self) -> DriverResult<()> {
        let health = self.health();
        match (&health.quarantine, health.until) {
            (Some(q), Some(until)) if health.probing || Instant::now() < until => Err(refusal(&self.host, q, until)),
            _ => Ok(()),
        }
    }

    /// True: this call is the probe that ends a quarantine or prolongs it.
    fn admit(&self) -> DriverResult<bool> {
        let mut health = self.health();
        match (&health.quarantine, health.until) {
            (Some(q), Some(until)) if health.probing || Instant::now() < until => Err(refusal(&self.host, q, until)),
            (Some(_), _) => {
                health.probing = true;
                Ok(true)
            }
            (None, _) => Ok(false),
        }
    }

    fn record(&self, verdict: Option<&DriverError>, probe: bool) {
        let mut health = self.health();
        if probe {
            health.probing = false;
        }
        match verdict {
            None => {
                health.failures = 0;
                if probe {
                    tracing::info!(backend = %self.host, "the driver answers again; quarantine lifted");
                    health.quarantine = None;
                    health.until = None;
                    health.lifted = Some(Instant::now());
                }
            }
            Some(error) => {
                health.failures = health.failures.saturating_add(1);
                let fresh = health.quarantine.is_none();
                if probe || (fresh && health.failures >= self.policy.failures) {
                    self.impose(&mut health, error);
                }
            }
        }
    }

    fn impose(&self, health: &mut Health, error: &DriverError) {
        if health.lifted.take().is_some_and(|at| at.elapsed() > self.policy.longest_pause) {
            health.rounds = 0;
        }
        let pause = self.policy.first_pause.saturating_mul(1 << health.rounds.min(16)).min(self.policy.longest_pause);
        health.rounds = health.rounds.saturating_add(1);
        let reason = format!("{} calls in a row failed, the last with {}: {}", health.failures, error.kind.as_str(), error.message);
        tracing::warn!(backend = %self.host, pause_s = pause.as_secs_f64(), %reason, "the back end is quarantined");
        metrics::counter!("stowage_backend_quarantine_total", "backend" => self.host.clone()).increment(1);
        let since = health.quarantine.as_ref().map_or_else(clock::now, |q| q.since);
        health.quarantine = Some(Quarantine { reason, since, until: clock::now().saturating_add(clock::micros(pause)) });
        health.until = Instant::now().checked_add(pause);
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        // the record is a handful of counters: after a panic elsewhere it is still one
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(host: &str, quarantine: &Quarantine, until: Instant) -> DriverError {
    let mut error = DriverError::new(ErrorKind::Quarantined, format!("{host} is quarantined: {}", quarantine.reason));
    error.retry_after = Some(until.saturating_duration_since(Instant::now()).max(Duration::from_secs(1)));
    error
}

/// The right to make one call. Dropped without a word (the caller went away), it leaves the record as it was.
pub struct Pass {
    gate: Arc<Gate>,
    probe: bool,
    settled: bool,
    admitted: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Pass {
    /// Says how the call ended.
    pub fn ended<T>(mut self, result: &DriverResult<T>) {
        self.settled = true;
        match result {
            // a caller in a hurry proves nothing about the driver
            Err(e) if e.kind == ErrorKind::Deadline && self.admitted.elapsed() < FAIR_CHANCE => self.settled = false,
            Err(e) if e.kind.is_misbehaviour() => self.gate.record(Some(e), self.probe),
            Err(e) if !e.kind.is_said_by_driver() => self.settled = false, // says nothing about the driver
            _ => self.gate.record(None, self.probe),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.probe && !self.settled {
            self.gate.health().probing = false;
        }
        if self.gate.in_flight.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.gate.idle.notify_waiters();
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
