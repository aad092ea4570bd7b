//! The queue's handle: putting work in, and starting and ending this process's part in it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Lease, NewJob,
    lanes::{Lanes, Slot},
    runner::Crew,
    waiters::Waiters,
};
use crate::store::{
    Store, StoreResult, Tx,
    sql::jobs::{CHANNEL, Claimed, JobFilter, JobRow},
};

/// How this process takes part in the work.
#[derive(Debug, Clone)]
pub struct JobsOptions {
    /// False: this process only puts jobs in and waits for them.
    pub work: bool,
    /// How long a silent worker keeps its jobs.
    pub lease: Duration,
    /// How often the table is looked at when nothing wakes us.
    pub poll: Duration,
    /// Jobs of one back end that run at once in this process.
    pub per_backend: usize,
    /// Jobs without a back end that run at once in this process.
    pub unplaced: usize,
    /// The first wait after a failed run; doubled with each further failure.
    pub backoff: Duration,
}

impl Default for JobsOptions {
    fn default() -> Self {
        Self {
            work: true,
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            per_backend: 16,
            unplaced: 64,
            backoff: Duration::from_millis(500),
        }
    }
}

/// The queue, as one process sees it. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) options: JobsOptions,
    pub(super) lanes: Arc<Lanes>,
    pub(super) waiters: Waiters,
    /// Set once by `start`.
    pub(super) crew: OnceLock<Box<dyn Crew>>,
    /// None before registration, after the lease was lost, and from shutdown on.
    pub(super) lease: RwLock<Option<Lease>>,
    /// The jobs that run here.
    running: Mutex<HashMap<String, Here>>,
    /// (back end, state) whose gauge is not zero.
    sampled: Mutex<HashSet<(String, String)>>,
    /// No more claims, and the loops end.
    pub(super) stop: CancellationToken,
    /// The loops and the runs.
    pub(super) tasks: TaskTracker,
}

/// A job that runs here.
pub(super) struct Here {
    pub(super) generation: i64,
    pub(super) kind: String,
    pub(super) resource_id: String,
    /// To say that nobody wants what it comes to.
    pub(super) unwanted: CancellationToken,
}

/// What ends a resource, whatever else is being done with it.
const ENDS: [&str; 5] = ["attachment.disconnect", "snapshot.delete", "share.delete", "share_snapshot.delete", "volume.delete"];

impl Jobs {
    /// A queue that nobody works at yet.
    pub fn new(store: Store, options: JobsOptions) -> Self {
        let lanes = Arc::new(Lanes::new(options.per_backend.max(1), options.unplaced.max(1)));
        Self {
            inner: Arc::new(Inner {
                store,
                options,
                lanes,
                waiters: Waiters::default(),
                crew: OnceLock::new(),
                lease: RwLock::new(None),
                running: Mutex::new(HashMap::new()),
                sampled: Mutex::default(),
                stop: CancellationToken::new(),
                tasks: TaskTracker::new(),
            }),
        }
    }

    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    pub fn options(&self) -> &JobsOptions {
        &self.inner.options
    }

    /// Gives one back end (`host@backend`) its own concurrency, or the default again.
    pub fn set_backend_concurrency(&self, backend: &str, jobs: Option<usize>) {
        self.inner.lanes.set_budget(backend, jobs);
    }

    /// This process's lease, while it holds one.
    pub fn lease(&self) -> Option<Lease> {
        self.inner.lease.read().unwrap_or_else(PoisonError::into_inner).clone().filter(Lease::is_held)
    }

    /// Rows of `GET /stowage/v1/jobs`, newest first, after the job named by `marker`.
    pub async fn list(&self, filter: &JobFilter, marker: Option<&str>, limit: i64) -> StoreResult<Vec<JobRow>> {
        self.inner.store.list_jobs(filter, marker, limit).await
    }

    /// Looks at the table soon.
    pub fn wake(&self) {
        self.inner.lanes.wake.notify_one();
    }

    pub(super) fn running(&self) -> MutexGuard<'_, HashMap<String, Here>> {
        self.inner.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this process runs this claim.
    pub(crate) fn runs_here(&self, id: &str, generation: i64) -> bool {
        self.running().get(id).is_some_and(|here| here.generation == generation)
    }

    /// A resource is about to end: what runs here for it, but for other ends, is not wanted any more.
    fn is_ending(&self, resource_id: &str) {
        for here in self.running().values().filter(|h| h.resource_id == resource_id && !ENDS.contains(&h.kind.as_str())) {
            here.unwanted.cancel();
        }
    }

    /// This process ends: what still runs is cut soon, and repeated by another.
    pub(super) fn is_leaving(&self) {
        for here in self.running().values() {
            here.unwanted.cancel();
        }
    }

    /// Sets the gauges of the queue's depth.
    pub(crate) async fn sample_depth(&self) -> StoreResult<()> {
        for (backend, running) in self.inner.lanes.running() {
            metrics::gauge!("stowage_jobs_running_here", "backend" => backend).set(running as f64);
        }
        let mut seen = self.inner.sampled.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let depths = self.inner.store.lane_depths().await?;
        for depth in &depths {
            metrics::gauge!("stowage_jobs", "backend" => depth.backend.clone(), "state" => depth.state.clone()).set(depth.jobs as f64);
            seen.remove(&(depth.backend.clone(), depth.state.clone()));
        }
        for (backend, state) in seen {
            metrics::gauge!("stowage_jobs", "backend" => backend, "state" => state).set(0.0);
        }
        *self.inner.sampled.lock().unwrap_or_else(PoisonError::into_inner) = depths.into_iter().map(|d| (d.backend, d.state)).collect();
        Ok(())
    }

    /// Room and right to run a job that is about to be inserted.
    fn reserve(&self, backend: &str) -> Option<(Lease, Slot)> {
        if self.inner.stop.is_cancelled() {
            return None;
        }
        let lease = self.lease()?;
        Some((lease, self.inner.lanes.take_for_new(backend)?))
    }
}

impl Tx {
    /// Puts a job into the queue with this transaction; its id. When this process has room it runs right after the commit,
    /// unless an older job with its order key is unfinished: then it runs when that one has ended.
    pub async fn enqueue(&mut self, jobs: &Jobs, job: NewJob) -> StoreResult<String> {
        let id = uuid::Uuid::new_v4().to_string();
        let place = jobs.reserve(job.backend.as_deref().unwrap_or(""));
        let claimed: Option<Claimed> = self.insert_job(&id, &job, place.as_ref().map(|(lease, _)| lease.worker())).await?;
        metrics::counter!("stowage_jobs_enqueued_total", "kind" => job.kind).increment(1);
        let jobs = jobs.clone();
        if ENDS.contains(&job.kind) {
            let (jobs, resource_id) = (jobs.clone(), job.resource_id.clone());
            self.after_commit(move || jobs.is_ending(&resource_id));
        }
        if let (Some(claimed), Some((lease, slot))) = (claimed, place) {
            // dropped with the hooks when the transaction rolls back, and the slot is free again
            self.after_commit(move || jobs.spawn(claimed, lease, slot));
        } else {
            self.notify(CHANNEL, "").await?;
            self.after_commit(move || jobs.wake());
        }
        Ok(id)
    }

    /// Lets a job that waits for its time run as soon as this transaction is committed: what it waits for does not matter any more.
    pub async fn hurry(&mut self, jobs: &Jobs, id: &str) -> StoreResult<()> {
        if self.job_is_due(id).await? {
            self.notify(CHANNEL, "").await?;
            let jobs = jobs.clone();
            self.after_commit(move || jobs.wake());
        }
        Ok(())
    }
}
