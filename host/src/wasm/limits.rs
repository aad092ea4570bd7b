//! What one call may use, and how going beyond is told apart.
//!
//! Each limit ends the call with an error type of its own, found again by downcast: no message is ever parsed.

use std::time::{Duration, Instant};

use thiserror::Error;
use wasmtime::{ResourceLimiter, Store, UpdateDeadline};

use super::{
    engine::{MAX_MEMORY, TABLE_ELEMENTS},
    host_fn::log::LogLimits,
};
use crate::{config::Grants, jobs::Lease};

/// The limits of one back end's calls, from what the operator granted.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// All memories of an instance together.
    pub memory_bytes: usize,
    pub table_elements: usize,
    /// Longest time one call may take.
    pub call_timeout: Duration,
    /// Most calls at once.
    pub concurrency: usize,
    /// What a guest may hand to the host at a time, as an answer or as an argument.
    pub transfer_bytes: usize,
    pub log: LogLimits,
}

impl CallLimits {
    pub fn from_grants(grants: &Grants) -> Self {
        let memory = usize::try_from(grants.memory_mib).unwrap_or(usize::MAX).saturating_mul(1 << 20).min(MAX_MEMORY);
        Self {
            memory_bytes: memory,
            table_elements: TABLE_ELEMENTS,
            call_timeout: grants.call_timeout,
            concurrency: grants.concurrency.max(1),
            transfer_bytes: 32 << 20,
            log: LogLimits::default(),
        }
    }
}

/// The guest asked for more than it was granted.
#[derive(Debug, Clone, Copy, Error)]
pub enum LimitExceeded {
    #[error("the driver asked for {wanted} bytes of memory, granted are {granted}")]
    Memory { wanted: usize, granted: usize },
    #[error("the driver asked for a table of {wanted} entries, granted are {granted}")]
    Table { wanted: usize, granted: usize },
}

/// The call's time is over.
#[derive(Debug, Clone, Copy, Error)]
#[error("the driver did not return within {0:?}")]
pub struct BudgetSpent(pub Duration);

/// The work belongs to another process now.
#[derive(Debug, Clone, Copy, Error)]
#[error("this process no longer owns the work")]
pub struct LeaseLost;

/// Counts what an instance holds. All its memories share one budget.
#[derive(Debug, Clone, Copy)]
pub struct Limiter {
    memory_bytes: usize,
    table_elements: usize,
    memory_used: usize,
}

impl Limiter {
    pub fn new(limits: &CallLimits) -> Self {
        Self { memory_bytes: limits.memory_bytes, table_elements: limits.table_elements, memory_used: 0 }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let wanted = self.memory_used.saturating_add(desired.saturating_sub(current));
        if wanted > self.memory_bytes {
            // an error rather than `false`: a guest that cannot allocate would only abort without a word
            return Err(LimitExceeded::Memory { wanted, granted: self.memory_bytes }.into());
        }
        self.memory_used = wanted;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.table_elements {
            return Err(LimitExceeded::Table { wanted: desired, granted: self.table_elements }.into());
        }
        Ok(true)
    }
}

/// When a call ends, whatever the guest does.
#[derive(Debug, Clone)]
pub struct Budget {
    pub begun: Instant,
    pub until: Instant,
    pub lease: Lease,
}

impl Budget {
    fn check(&self) -> wasmtime::Result<()> {
        if self.lease.is_cancelled() {
            return Err(LeaseLost.into());
        }
        if Instant::now() >= self.until {
            return Err(BudgetSpent(self.until.saturating_duration_since(self.begun)).into());
        }
        Ok(())
    }
}

/// Puts a store under its limits. At each tick the guest is stopped if its time is over, and otherwise lets others run.
pub fn apply<T: Send + 'static>(store: &mut Store<T>, limits: &CallLimits, budget: Budget, limiter: fn(&mut T) -> &mut Limiter) {
    store.limiter(move |state| limiter(state));
    store.set_hostcall_fuel(limits.transfer_bytes);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| budget.check().map(|()| UpdateDeadline::Yield(1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(memory_bytes: usize) -> Limiter {
        Limiter { memory_bytes, table_elements: 10, memory_used: 0 }
    }

    #[test]
    fn all_memories_share_one_budget() {
        let mut l = limiter(100);
        assert!(l.memory_growing(0, 60, None).unwrap());
        assert!(l.memory_growing(0, 40, None).unwrap());
        let refused = l.memory_growing(40, 41, None).unwrap_err();
        assert!(matches!(refused.downcast_ref(), Some(LimitExceeded::Memory { wanted: 101, granted: 100 })));
    }

    #[test]
    fn a_table_ends_at_its_limit() {
        let mut l = limiter(0);
        assert!(l.table_growing(0, 10, None).unwrap());
        assert!(matches!(l.table_growing(10, 11, None).unwrap_err().downcast_ref(), Some(LimitExceeded::Table { .. })));
    }

    #[test]
    fn a_budget_ends_by_time_or_by_lease() {
        let now = Instant::now();
        let budget = |until| Budget { begun: now, until, lease: Lease::unbounded() };
        budget(now + Duration::from_secs(60)).check().unwrap();
        assert!(budget(now).check().unwrap_err().is::<BudgetSpent>());
        let lost = budget(now + Duration::from_secs(60));
        lost.lease.lose();
        assert!(lost.check().unwrap_err().is::<LeaseLost>());
        let passed = Budget { lease: Lease::new("w".into(), Some(now)), ..budget(now + Duration::from_secs(60)) };
        assert!(passed.check().unwrap_err().is::<LeaseLost>());
    }

    #[test]
    fn a_grant_beyond_the_pool_is_cut_to_it() {
        let grants = Grants { memory_mib: u32::MAX, ..Grants::default() };
        assert_eq!(CallLimits::from_grants(&grants).memory_bytes, MAX_MEMORY);
    }
}
