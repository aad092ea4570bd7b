//! Running one claimed job.
//!
//! A run ends in one of four ways: settled by its task, put back for later, given up because the lease was lost (another
//! worker repeats it), or fenced off. A panic is a failed run. Nothing a task does can end the worker.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures::FutureExt;
use futures::future::BoxFuture;
use rand::Rng;

use super::{Job, JobContext, Jobs, Lease, Outcome, Registry, Task, TaskError, lanes::Slot, queue::Here};
use crate::store::{
    StoreResult,
    sql::jobs::{Claimed, Release},
};

/// The longest wait between two failed runs.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// The wait after the n-th failure in a row: doubled each time, capped, with jitter so that a crowd does not return as one.
pub fn backoff(failures: i64) -> Duration {
    backoff_from(Duration::from_millis(500), failures)
}

fn backoff_from(base: Duration, failures: i64) -> Duration {
    let doublings = u32::try_from(failures.clamp(1, 20) - 1).unwrap_or(0);
    let full = base.saturating_mul(1 << doublings).min(MAX_BACKOFF);
    full.mul_f64(rand::rng().random_range(0.5..1.0))
}

/// How a run ended.
pub(super) enum End {
    Settled,
    Later(Release),
    /// For later, and not for this process above others.
    Elsewhere(Release),
    /// The lease is lost or the job is another's: not a word more.
    Silent,
}

impl Jobs {
    /// Runs a claimed job in a task of its own.
    pub(super) fn spawn(&self, claimed: Claimed, lease: Lease, slot: impl Into<Arc<Slot>>) {
        let lease = lease.for_work();
        let here = Here {
            generation: claimed.job.generation,
            kind: claimed.job.kind.clone(),
            resource_id: claimed.job.resource_id.clone(),
            unwanted: lease.unwanted().clone(),
        };
        self.running().insert(claimed.job.id.clone(), here);
        let jobs = self.clone();
        let slot = slot.into();
        self.inner.tasks.spawn(async move {
            let _entry = RunningEntry { jobs: jobs.clone(), id: claimed.job.id.clone(), generation: claimed.job.generation };
            run(&jobs, claimed, lease, slot).await;
        });
    }
}

/// Takes the job out of the list of running ones, however the run ends.
struct RunningEntry {
    jobs: Jobs,
    id: String,
    generation: i64,
}

impl Drop for RunningEntry {
    fn drop(&mut self) {
        let mut running = self.jobs.running();
        if running.get(&self.id).is_some_and(|here| here.generation == self.generation) {
            running.remove(&self.id);
        }
    }
}

async fn run(jobs: &Jobs, claimed: Claimed, lease: Lease, slot: Arc<Slot>) {
    let begun = Instant::now();
    let job = claimed.job.clone();
    let Some(crew) = jobs.inner.crew.get() else { return };
    let span = tracing::info_span!("job", job_id = %job.id, kind = %job.kind, generation = job.generation, resource_id = %job.resource_id, request_id = %job.request_id);
    let end = tokio::select! {
        biased;
        () = lease.cancelled() => End::Silent,
        end = tracing::Instrument::instrument(crew.attempt(jobs, claimed, &lease, &slot), span) => end,
    };
    let outcome = match &end {
        End::Settled => "settled",
        End::Later(r) if r.failed => "failed",
        End::Later(_) | End::Elsewhere(_) => "again",
        End::Silent => "fenced",
    };
    metrics::counter!("stowage_job_runs_total", "kind" => job.kind.clone(), "outcome" => outcome).increment(1);
    metrics::histogram!("stowage_job_run_seconds", "kind" => job.kind.clone()).record(begun.elapsed().as_secs_f64());
    let wakes = !matches!(end, End::Elsewhere(_));
    match end {
        End::Settled => {
            if let Err(e) = next_in_order(jobs, &job.order_key, &lease, slot).await {
                tracing::warn!(error = %e, order_key = %job.order_key, "cannot start the next job in order; the poller will");
            }
        }
        End::Later(mut release) | End::Elsewhere(mut release) => {
            release.lane = slot.next();
            drop(slot);
            put_back(jobs, &job, &lease, release, wakes).await;
        }
        End::Silent => {}
    }
}

/// Who does the work, whatever it works with.
pub(super) trait Crew: Send + Sync {
    /// One run of a job's task, to a verdict.
    fn attempt<'a>(&'a self, jobs: &'a Jobs, claimed: Claimed, lease: &'a Lease, slot: &'a Arc<Slot>) -> BoxFuture<'a, End>;
}

/// The tasks, and what they work with. Weak: the app owns the queue, not the other way round.
pub(super) struct Team<A: Send + Sync + 'static> {
    pub(super) app: Weak<A>,
    pub(super) registry: Registry<A>,
}

impl<A: Send + Sync + 'static> Crew for Team<A> {
    fn attempt<'a>(&'a self, jobs: &'a Jobs, claimed: Claimed, lease: &'a Lease, slot: &'a Arc<Slot>) -> BoxFuture<'a, End> {
        Box::pin(async move {
            let Claimed { job, left } = claimed;
            let Some(app) = self.app.upgrade() else { return End::Silent };
            let Some(task) = self.registry.get(&job.kind) else {
                return failed(jobs, &job, format!("this process has no task for {}", job.kind));
            };
            let settled = Arc::new(AtomicBool::new(false));
            let cx = JobContext {
                app,
                job,
                lease: lease.clone(),
                jobs: jobs.clone(),
                settled: Arc::clone(&settled),
                slot: Arc::clone(slot),
                noted: Arc::default(),
            };
            let verdict = carry_out(&*task, &cx, left).await;
            if settled.load(Ordering::Acquire) {
                if !matches!(verdict, Ok(Outcome::Settled)) {
                    tracing::debug!(?verdict, "the task settled its job and then ended otherwise; the job has ended");
                }
                return End::Settled;
            }
            match verdict {
                Ok(Outcome::Settled) => failed(jobs, &cx.job, "the task ended without settling its job".to_owned()),
                Ok(Outcome::Again { after, payload, reason }) => {
                    End::Later(Release { after, payload: Some(payload), reason, ..Release::default() })
                }
                Ok(Outcome::Elsewhere { after, payload, reason }) => {
                    End::Elsewhere(Release { after, payload: Some(payload), reason, ..Release::default() })
                }
                Err(TaskError::Fenced) => {
                    tracing::info!("fenced off: another worker owns this job");
                    End::Silent
                }
                Err(e) => failed(jobs, &cx.job, e.to_string()),
            }
        })
    }
}

fn failed(jobs: &Jobs, job: &Job, reason: String) -> End {
    let after = backoff_from(jobs.inner.options.backoff, job.failures + 1);
    tracing::warn!(attempts = job.attempts, retry_in_ms = after.as_millis(), reason, "a run failed; it is repeated");
    End::Later(Release { after, reason, failed: true, ..Release::default() })
}

/// `run` until the maximum age, then `expire`. A panic in either is an error.
async fn carry_out<A: Send + Sync + 'static>(task: &dyn Task<A>, cx: &JobContext<A>, left: Duration) -> Result<Outcome, TaskError> {
    let contained = |verdict: Result<Result<Outcome, TaskError>, Box<dyn std::any::Any + Send>>| match verdict {
        Ok(verdict) => verdict,
        Err(panic) => {
            metrics::counter!("stowage_job_panics_total", "kind" => cx.job.kind.clone()).increment(1);
            Err(TaskError::Other(format!("panicked: {}", panic_text(&*panic))))
        }
    };
    if !left.is_zero()
        && let Ok(verdict) = tokio::time::timeout(left, AssertUnwindSafe(task.run(cx)).catch_unwind()).await
    {
        return contained(verdict);
    }
    metrics::counter!("stowage_jobs_expired_total", "kind" => cx.job.kind.clone()).increment(1);
    tracing::warn!(attempts = cx.job.attempts, "the job is past its maximum age");
    contained(AssertUnwindSafe(task.expire(cx)).catch_unwind().await)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text")
}

/// Writes the release, and looks for the job when it is due if `wakes`. When the store does not answer, the job stays with this worker, and `reconcile/dead_workers` puts it back.
async fn put_back(jobs: &Jobs, job: &Job, lease: &Lease, release: Release, wakes: bool) {
    let write = async {
        let mut tx = jobs.inner.store.begin().await?;
        let ours = tx.release_job(&job.id, lease.worker(), job.generation, &release).await?;
        tx.commit().await?;
        StoreResult::Ok(ours)
    };
    match write.await {
        // found by whoever polls first
        Ok(true) if !wakes => {}
        Ok(true) => {
            let jobs = jobs.clone();
            let after = release.after;
            jobs.inner.tasks.clone().spawn(async move {
                tokio::select! {
                    () = jobs.inner.stop.cancelled() => {}
                    () = tokio::time::sleep(after) => jobs.wake(),
                }
            });
        }
        Ok(false) => tracing::info!(job_id = %job.id, "fenced off: another worker owns this job"),
        Err(e) => tracing::warn!(job_id = %job.id, error = %e, "cannot put a job back; it is found again"),
    }
}

/// Starts the next job with the same order key here and now.
async fn next_in_order(jobs: &Jobs, order_key: &str, lease: &Lease, slot: Arc<Slot>) -> StoreResult<()> {
    let store = &jobs.inner.store;
    let Some(backend) = store.next_in_order(order_key).await? else { return Ok(()) };
    if jobs.inner.stop.is_cancelled() || !lease.is_held() {
        return Ok(());
    }
    let slot = if slot.backend() == backend {
        slot
    } else {
        match jobs.inner.lanes.take_for_new(&backend) {
            Some(other) => Arc::new(other),
            None => return Ok(()), // that lane's backlog is served by the poller
        }
    };
    let mut tx = store.begin().await?;
    let claimed = tx.claim_next_in_order(order_key, lease.worker()).await?;
    tx.commit().await?;
    if let Some(claimed) = claimed {
        jobs.spawn(claimed, lease.clone(), slot);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_has_jitter_and_a_ceiling() {
        let base = Duration::from_millis(100);
        for n in 1..=6 {
            let full = base * (1 << (n - 1));
            let wait = backoff_from(base, n);
            assert!(wait >= full / 2 && wait <= full, "failure {n}: {wait:?}");
        }
        assert!(backoff_from(base, i64::MAX) <= MAX_BACKOFF);
    }
}
