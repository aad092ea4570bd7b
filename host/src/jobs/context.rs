//! What a running task holds, and the only way to write its result.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;

use super::{Job, JobResult, Jobs, Lease, Outcome, TaskError, lanes::Slot};
use crate::{
    app::App,
    store::{Tx, sql::jobs::CHANNEL},
};

/// What a running task holds.
pub struct JobContext<A = App> {
    pub app: Arc<A>,
    pub job: Job,
    /// Once it is lost or its time has passed, outgoing calls are refused.
    pub lease: Lease,
    pub(super) jobs: Jobs,
    pub(super) settled: Arc<AtomicBool>,
    pub(super) slot: Arc<Slot>,
    /// What [`JobContext::commit_noted`] wrote last.
    pub(super) noted: Arc<Mutex<Option<Value>>>,
}

impl<A> Clone for JobContext<A> {
    fn clone(&self) -> Self {
        Self {
            app: Arc::clone(&self.app),
            job: self.job.clone(),
            lease: self.lease.clone(),
            jobs: self.jobs.clone(),
            settled: Arc::clone(&self.settled),
            slot: Arc::clone(&self.slot),
            noted: Arc::clone(&self.noted),
        }
    }
}

impl<A> JobContext<A> {
    /// The lease itself: [`Lease::is_held`] answers without delay after the process was stopped.
    pub fn worker_lease(&self) -> &Lease {
        &self.lease
    }

    /// The queue the job came from, for follow-up jobs.
    pub fn queue(&self) -> &Jobs {
        &self.jobs
    }

    /// The job's payload as it stands in the database: what this run wrote, or else what it was claimed with. A task whose time
    /// is over in the middle of a run ends with what that run had come to.
    pub fn payload(&self) -> Value {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_else(|| self.job.payload.clone())
    }

    /// Goes on in the lane of `backend`: whoever is about to call a back end's driver asks for this first, so that a back end
    /// that hangs takes up its own lane only. None: the job runs there now (or did so all along). Otherwise there is no room,
    /// and the task returns what this gives: the next run begins in the right lane, with `payload`.
    pub async fn change_lane(&self, backend: &str, payload: &Value) -> Option<Outcome> {
        if self.slot.move_to(backend).await {
            return None;
        }
        let reason = format!("waits for room: as many jobs of {backend} run as may");
        Some(Outcome::Again { after: Duration::ZERO, payload: payload.clone(), reason })
    }

    /// The next run belongs to no back end: this one was given up.
    pub fn leave_lane(&self) {
        self.slot.move_later("");
    }

    /// Writes the job's end into `tx`, which holds what the task wants to be true with it, and commits. Whoever waits is told.
    ///
    /// # Errors
    /// [`TaskError::Fenced`]: another worker owns the job now, or this worker's lease has lapsed; `tx` is rolled back.
    pub async fn settle(&self, mut tx: Tx, result: JobResult) -> Result<(), TaskError> {
        let Some(awaited) = tx.end_job(&self.job.id, self.lease.worker(), self.job.generation, &result).await? else {
            tx.rollback().await?;
            return Err(TaskError::Fenced);
        };
        if awaited {
            tx.notify(CHANNEL, &self.job.id).await?;
        }
        let (jobs, settled, id) = (self.jobs.clone(), Arc::clone(&self.settled), self.job.id.clone());
        tx.after_commit(move || {
            settled.store(true, Ordering::Release);
            jobs.inner.waiters.complete(&id, &result);
        });
        tx.commit().await?;
        Ok(())
    }

    /// As [`JobContext::commit_step`], with what the next run begins with, also after a crash, and a word for people.
    ///
    /// # Errors
    /// [`TaskError::Fenced`]; `tx` is rolled back.
    pub async fn commit_noted(&self, mut tx: Tx, payload: &Value, reason: &str) -> Result<(), TaskError> {
        if !tx.note_job(&self.job.id, self.lease.worker(), self.job.generation, payload, reason).await? {
            tx.rollback().await?;
            return Err(TaskError::Fenced);
        }
        // before the commit: a commit whose answer is lost, or not waited for, may have happened, and all it adds is known then
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload.clone());
        tx.commit().await?;
        Ok(())
    }

    /// Commits what a task wants to be true before its end (a provider id, a progress), if the job is still its own.
    ///
    /// # Errors
    /// [`TaskError::Fenced`]; `tx` is rolled back.
    pub async fn commit_step(&self, mut tx: Tx) -> Result<(), TaskError> {
        if !tx.hold_job(&self.job.id, self.lease.worker(), self.job.generation).await? {
            tx.rollback().await?;
            return Err(TaskError::Fenced);
        }
        tx.commit().await?;
        Ok(())
    }
}
