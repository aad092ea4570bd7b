//! Callers that wait for a job's end: a request handler whose answer is the driver's answer.
//!
//! In this process the end is handed over directly. Across processes the row says that somebody waits, and whoever ends the
//! job announces it; polling the row finds what an announcement missed. Waiting never holds a transaction.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::broadcast, time::Instant};

use super::{JobFault, JobResult, Jobs};
use crate::{
    error::{Error, Kind},
    store::{
        StoreResult,
        sql::jobs::{CHANNEL, JobEnd},
    },
};

/// The deadline passed; the job goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operation has not ended yet; it goes on")]
pub struct WaitExpired;

impl From<WaitExpired> for Error {
    fn from(e: WaitExpired) -> Self {
        Self::new(Kind::Timeout, e.to_string())
    }
}

/// What a waiter hears: the end itself, or only that it should look at the row.
type Signal = Option<JobResult>;

#[derive(Debug, Clone, Default)]
pub(super) struct Waiters(Arc<Mutex<HashMap<String, broadcast::Sender<Signal>>>>);

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, broadcast::Sender<Signal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribe(&self, id: &str) -> Subscription {
        let signals = self.lock().entry(id.to_owned()).or_insert_with(|| broadcast::channel(4).0).subscribe();
        Subscription { waiters: self.clone(), id: id.to_owned(), signals: Some(signals) }
    }

    /// The job has ended here with `result`.
    pub(super) fn complete(&self, id: &str, result: &JobResult) {
        if let Some(sender) = self.lock().remove(id) {
            let _ = sender.send(Some(result.clone()));
        }
    }

    /// The job has ended somewhere else.
    pub(super) fn look_at(&self, id: &str) {
        if let Some(sender) = self.lock().get(id) {
            let _ = sender.send(None);
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }

    fn callers(&self) -> usize {
        self.lock().values().map(broadcast::Sender::receiver_count).sum()
    }
}

struct Subscription {
    waiters: Waiters,
    id: String,
    /// Taken only by `drop`.
    signals: Option<broadcast::Receiver<Signal>>,
}

impl Subscription {
    async fn next(&mut self) -> Signal {
        match &mut self.signals {
            Some(s) => match s.recv().await {
                Ok(signal) => signal,
                Err(broadcast::error::RecvError::Lagged(_)) => None,
                // the sender went without a word for us; from here on only the polls count
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut map = self.waiters.lock();
        self.signals = None;
        if map.get(&self.id).is_some_and(|s| s.receiver_count() == 0) {
            map.remove(&self.id);
        }
    }
}

impl Jobs {
    /// Callers of this process that wait for the end of a job.
    pub fn callers_waiting(&self) -> usize {
        self.inner.waiters.callers()
    }

    /// Waits until the job has ended, wherever it runs, for at most `deadline`.
    ///
    /// # Errors
    /// [`WaitExpired`]; the job goes on, and waiting may begin anew.
    pub async fn wait(&self, id: &str, deadline: Duration) -> Result<JobResult, WaitExpired> {
        let end = Instant::now() + deadline;
        tokio::time::timeout_at(end, self.wait_for_end(id)).await.map_err(|_| WaitExpired)
    }

    async fn wait_for_end(&self, id: &str) -> JobResult {
        let mut subscription = self.inner.waiters.subscribe(id);
        let mut announced = false;
        loop {
            match self.look(id, &mut announced).await {
                Ok(Some(result)) => return result,
                Ok(None) => {}
                Err(e) => tracing::warn!(job_id = id, error = %e, "cannot look at a job that is waited for; trying again"),
            }
            tokio::select! {
                signal = subscription.next() => if let Some(result) = signal { return result },
                () = tokio::time::sleep(self.inner.options.poll) => {}
            }
        }
    }

    /// One look at the row. Leaves word in it when the job may end in another process.
    async fn look(&self, id: &str, announced: &mut bool) -> StoreResult<Option<JobResult>> {
        match self.inner.store.job_end(id).await? {
            JobEnd::Ended(result) => Ok(Some(result)),
            JobEnd::Gone => Ok(Some(Err(JobFault { kind: Kind::NotFound, message: "The operation is not known any more.".to_owned() }))),
            JobEnd::Unfinished { worker } => {
                let here = worker.is_some() && worker.as_deref() == self.lease().as_ref().map(super::Lease::worker);
                if here || *announced || self.inner.store.is_sqlite() {
                    return Ok(None);
                }
                let mut tx = self.inner.store.begin().await?;
                let open = tx.await_job(id).await?;
                if worker.is_none() {
                    // a claim that came by while we held the row has skipped it
                    tx.notify(CHANNEL, "").await?;
                    let jobs = self.clone();
                    tx.after_commit(move || jobs.wake());
                }
                tx.commit().await?;
                *announced = true;
                if open {
                    return Ok(None);
                }
                // it ended between the two statements
                Ok(match self.inner.store.job_end(id).await? {
                    JobEnd::Ended(result) => Some(result),
                    _ => None,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_waiter_of_a_job_gets_its_end_and_nothing_is_left_behind() {
        let waiters = Waiters::default();
        let (mut a, mut b) = (waiters.subscribe("j"), waiters.subscribe("j"));
        waiters.complete("j", &Ok(serde_json::json!(7)));
        assert_eq!(a.next().await.unwrap().unwrap(), serde_json::json!(7));
        assert_eq!(b.next().await.unwrap().unwrap(), serde_json::json!(7));
        drop((a, b));
        assert_eq!(waiters.len(), 0);
    }

    #[tokio::test]
    async fn a_waiter_that_gives_up_leaves_no_entry() {
        let waiters = Waiters::default();
        let a = waiters.subscribe("j");
        let b = waiters.subscribe("j");
        drop(a);
        assert_eq!(waiters.len(), 1);
        drop(b);
        assert_eq!(waiters.len(), 0);
    }
}
