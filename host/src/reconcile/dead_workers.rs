//! Jobs without a living worker go back to the queue.
//!
//! Two kinds: a worker's lease has lapsed (its process was killed, stopped, or cut off), and a job whose row names this very
//! process though nothing here runs it (the answer to a commit was lost). Also samples the queue's depth for the metrics.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{
    error::Result,
    jobs::Jobs,
    store::{
        Store, StoreResult,
        sql::jobs::{CHANNEL, Release},
    },
};

/// The loop. One per process: it knows what runs here.
pub struct DeadWorkers {
    store: Store,
    jobs: Jobs,
    /// (job, generation) seen at the last run in our name without a run here.
    suspects: Mutex<HashSet<(String, i64)>>,
}

impl DeadWorkers {
    pub fn new(store: Store, jobs: Jobs) -> Self {
        Self { store, jobs, suspects: Mutex::default() }
    }

    /// Twice in a row, because between a claim's commit and the start of its run lies a moment.
    async fn put_back_lost_claims(&self) -> StoreResult<usize> {
        let store = &self.store;
        let Some(lease) = self.jobs.lease() else { return Ok(0) };
        let recorded = store.jobs_of_worker(lease.worker()).await?;
        let unknown: HashSet<_> = recorded.into_iter().filter(|(id, generation)| !self.jobs.runs_here(id, *generation)).collect();
        let before = std::mem::replace(&mut *self.suspects.lock().unwrap_or_else(PoisonError::into_inner), unknown.clone());
        let lost: Vec<_> = unknown.intersection(&before).collect();
        if lost.is_empty() {
            return Ok(0);
        }
        let release = Release { reason: "the answer to its claim or its end was lost".to_owned(), ..Release::default() };
        let mut tx = store.begin().await?;
        for (id, generation) in &lost {
            tx.release_job(id, lease.worker(), *generation, &release).await?;
        }
        tx.commit().await?;
        self.jobs.wake();
        Ok(lost.len())
    }
}

/// Takes the jobs of workers whose lease has lapsed; how many.
pub async fn take_over(store: &Store) -> StoreResult<u64> {
    if !store.has_dead_workers().await? {
        return Ok(0);
    }
    let mut tx = store.begin().await?;
    let jobs = tx.take_over_jobs().await?;
    tx.remove_dead_workers().await?;
    if jobs > 0 {
        tx.notify(CHANNEL, "").await?;
    }
    tx.commit().await?;
    Ok(jobs)
}

impl Reconciler for DeadWorkers {
    fn name(&self) -> &'static str {
        "dead-workers"
    }

    fn every(&self) -> Duration {
        self.jobs.options().lease / 3
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let taken = take_over(&self.store).await?;
            if taken > 0 {
                self.jobs.wake();
            }
            let lost = self.put_back_lost_claims().await?;
            self.jobs.sample_depth().await?;
            Ok(if taken + lost as u64 == 0 {
                String::new()
            } else {
                format!("{taken} jobs taken over from dead workers, {lost} lost claims put back")
            })
        })
    }
}
