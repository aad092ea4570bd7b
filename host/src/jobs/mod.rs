//! Durable work. A job is a row: whoever accepts a request writes it in the same transaction as the state change, and a
//! worker carries it out. There is no message bus.
//!
//! Invariants: a transitional state is always owned by a job; jobs of one resource run one at a time, in order; a result
//! is written only by the (worker, generation) that holds the job, in the same transaction ([`JobContext::settle`]);
//! a dead worker's jobs are taken over with a new generation. A task must be safe to run again from its beginning.

//!
//! On failure: a run that errs or panics is repeated with back-off; one past its maximum age is ended by [`Task::expire`];
//! one whose worker lost its lease is dropped here and repeated elsewhere; what it still writes matches no row.

mod context;
mod lanes;
mod lease;
mod poller;
mod queue;
mod registry;
mod runner;
pub mod task;
mod waiters;
mod worker;

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    context::JobContext,
    lease::Lease,
    queue::{Jobs, JobsOptions},
    registry::Registry,
    runner::backoff,
    waiters::WaitExpired,
};
use crate::{
    app::App,
    clock::Micros,
    error::{Error, Kind},
    store::StoreError,
};

/// Work to be put into the queue.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// The task's name, `volume.create`.
    pub kind: &'static str,
    /// `volume`, `attachment`, ...: for people and for filters.
    pub resource_kind: &'static str,
    /// Jobs with the same key run one at a time, in the order of their insertion. For an attachment this is its volume's id.
    pub order_key: String,
    /// The resource the job is about.
    pub resource_id: String,
    /// `host@backend` whose concurrency budget the job uses; none until a pool is chosen.
    pub backend: Option<String>,
    /// The task's own arguments.
    pub payload: Value,
    /// After this long since its insertion the task's `expire` gives the resource an end state.
    pub max_age: Duration,
    pub request_id: String,
    pub project_id: String,
    pub user_id: String,
}

/// A claimed job.
#[derive(Debug, Clone)]
pub struct Job {
    /// Order of insertion.
    pub seq: i64,
    pub id: String,
    pub kind: String,
    pub resource_kind: String,
    pub order_key: String,
    pub resource_id: String,
    pub backend: Option<String>,
    pub payload: Value,
    /// Goes up with every claim; travels with every driver call.
    pub generation: i64,
    /// How often the task has been begun, this time included.
    pub attempts: i64,
    /// Failed runs in a row before this one.
    pub failures: i64,
    pub created_at: Micros,
    /// When `expire` takes over.
    pub expires_at: Micros,
    pub request_id: String,
    pub project_id: String,
    pub user_id: String,
}

/// Bits of a call's generation that count the claims of one job. One more, the lowest, says that the call undoes another of
/// the same claim.
const CLAIM_BITS: u32 = 16;

impl Job {
    /// What driver calls carry, so that an array can refuse a late call. It goes up with every claim of this job and from
    /// each job of an object to the next one: a delete is newer than a create that was taken over five times. A job about many
    /// objects (an ensure run), and one that cleans up after another, are in no order with the objects' own.
    pub fn call_generation(&self) -> u64 {
        let claims = u64::try_from(self.generation).unwrap_or(0).min((1 << CLAIM_BITS) - 1);
        (u64::try_from(self.seq).unwrap_or(0) << (CLAIM_BITS + 1)) | (claims << 1)
    }

    /// What the call carries that takes back another of this claim: newer than that one, older than the next claim's.
    pub fn undo_generation(&self) -> u64 {
        self.call_generation() | 1
    }
}

/// What a waiting request handler gets: the task's answer, or the refusal to show.
pub type JobResult = Result<Value, JobFault>;

/// A job's failure as it is kept in the row for whoever waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobFault {
    pub kind: Kind,
    pub message: String,
}

impl From<JobFault> for Error {
    fn from(f: JobFault) -> Self {
        Self::new(f.kind, f.message)
    }
}

/// How a run of a task ended.
#[derive(Debug)]
pub enum Outcome {
    /// The task wrote its result through [`JobContext::settle`].
    Settled,
    /// Run again later with this payload (a poll token goes in there). `reason` shows in `GET /stowage/v1/jobs`.
    Again { after: Duration, payload: Value, reason: String },
    /// As `Again`, of a process that lacks what it takes: it is no more likely to run it next than any other.
    Elsewhere { after: Duration, payload: Value, reason: String },
}

/// What a task returns when it cannot even say how its resource stands. The runner backs off and runs it again.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// Another worker owns the job now; this run ends without a trace.
    #[error("fenced off")]
    Fenced,
    #[error("store: {0}")]
    Store(#[source] StoreError),
    #[error("{0}")]
    Other(String),
}

impl From<StoreError> for TaskError {
    fn from(e: StoreError) -> Self {
        match e {
            StoreError::Fenced { .. } => Self::Fenced,
            other => Self::Store(other),
        }
    }
}

/// One kind of work; one file each in `jobs/task/`. `A` is what tasks work with: the queue itself knows nothing of it.
pub trait Task<A: Send + Sync + 'static = App>: Send + Sync {
    /// The name that stands in the row.
    fn kind(&self) -> &'static str;
    /// Does the work, or one more piece of it. Runs again after a crash: it must find what an earlier run left.
    fn run<'a>(&'a self, cx: &'a JobContext<A>) -> BoxFuture<'a, Result<Outcome, TaskError>>;
    /// The job is past its maximum age: give the resource an end state and a message, and leave clean-up jobs behind.
    fn expire<'a>(&'a self, cx: &'a JobContext<A>) -> BoxFuture<'a, Result<Outcome, TaskError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(seq: i64, generation: i64) -> Job {
        Job {
            seq,
            id: String::new(),
            kind: String::new(),
            resource_kind: String::new(),
            order_key: String::new(),
            resource_id: String::new(),
            backend: None,
            payload: Value::Null,
            generation,
            attempts: 1,
            failures: 0,
            created_at: 0,
            expires_at: 0,
            request_id: String::new(),
            project_id: String::new(),
            user_id: String::new(),
        }
    }

    #[test]
    fn the_first_call_of_a_later_job_is_newer_than_any_call_of_an_earlier_one() {
        assert!(job(7, 2).call_generation() > job(7, 1).call_generation());
        assert!(job(8, 1).call_generation() > job(7, i64::MAX).call_generation());
    }

    #[test]
    fn an_undo_is_newer_than_what_it_undoes_and_older_than_whatever_comes_next() {
        assert!(job(7, 1).undo_generation() > job(7, 1).call_generation());
        assert!(job(7, 2).call_generation() > job(7, 1).undo_generation());
        assert!(job(8, 1).call_generation() > job(7, i64::MAX).undo_generation());
    }
}
