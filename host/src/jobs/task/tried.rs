//! A driver call that is tried several times: what a run knows of the runs before it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::repeats;
use crate::{
    driver::{DriverError, ErrorKind},
    jobs::{JobContext, Outcome, TaskError},
    store::Tx,
};

/// What a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tried {
    /// Failures in a row.
    pub failures: u32,
    /// Something may have been done all the same: by a failure, or by a run of which nothing is known.
    pub uncertain: bool,
    /// The last run that ended with what stands here.
    pub ended: i64,
}

impl Tried {
    /// What the runs before this one left. A run that was killed or handed back may have called the driver, and wrote nothing.
    pub fn begin(mut self, attempts: i64) -> Self {
        self.uncertain |= lost_a_run(self.ended, attempts);
        self.ended = attempts;
        self
    }

    /// The next call begins with nothing tried.
    pub fn afresh(&self) -> Self {
        Self { ended: self.ended, ..Self::default() }
    }

    /// Counts a failure; when the same call is to be made again. None: that is the end of it.
    pub fn again(&mut self, e: &DriverError) -> Option<std::time::Duration> {
        self.failures += 1;
        self.uncertain |= e.may_have_happened();
        repeats::again(e, self.failures)
    }
}

/// Whether a run between the `ended`-th, which wrote its payload, and this one ended without a trace.
pub fn lost_a_run(ended: i64, attempts: i64) -> bool {
    attempts > ended + 1
}

/// `Fenced` when the lease is lost: another worker owns the job now.
pub fn unless_fenced(e: &DriverError) -> Result<(), TaskError> {
    if e.kind == ErrorKind::LeaseLost { Err(TaskError::Fenced) } else { Ok(()) }
}

/// The job has ended, with `tx`.
pub async fn settled(cx: &JobContext, tx: Tx) -> Result<Outcome, TaskError> {
    cx.settle(tx, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_left_no_trace_may_have_done_something() {
        let first = Tried::default().begin(1);
        assert!(!first.uncertain);
        assert!(!first.clone().begin(2).uncertain);
        assert!(first.begin(3).uncertain);
        assert!(Tried::default().begin(2).uncertain);
    }

    #[test]
    fn a_later_certain_failure_does_not_undo_an_uncertain_one() {
        let mut tried = Tried::default().begin(1);
        tried.again(&DriverError::new(ErrorKind::Deadline, ""));
        tried.again(&DriverError::new(ErrorKind::Exhausted, ""));
        assert!(tried.uncertain);
    }
}
