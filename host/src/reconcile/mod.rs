//! Loops that bring things back to what they should be.
//!
//! A reconciler takes no input, may run twice and at any time, and is started by the clock and by a kick. One that is a
//! *duty* runs in one process for all, under a lease in the database; the others run in every process. Its last run, last
//! error and next run are visible. When a run errs, it is logged and the next one is due as usual; a panic is contained.

pub mod dead_workers;
pub mod deliver;
pub mod driver_follow;
pub mod driver_health;
pub mod empty_bin;
pub mod forget_placements;
pub mod forget_tokens;
pub mod idle_servers;
pub mod log_levels;
pub mod purge;
pub mod stats;
pub mod webhook;

use std::{
    collections::BTreeMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use futures::future::BoxFuture;
use rand::Rng;
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    clock::{self, Micros},
    error::{Error, Result, chain},
    jobs::Jobs,
    notify::log_sink::LogSink,
    store::Store,
};

/// One loop.
pub trait Reconciler: Send + Sync {
    fn name(&self) -> &'static str;
    /// The wait between two runs; a fifth of it is jitter.
    fn every(&self) -> Duration;
    /// True: one process runs it for all.
    fn is_duty(&self) -> bool {
        false
    }
    /// A duty: how long it is this process's, whatever becomes of it. A run must end within.
    fn holds_duty(&self) -> Duration {
        self.every() * 3
    }
    /// Brings things back to what they should be; says in a few words what it did, empty for nothing.
    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>>;
}

/// How a loop stands, for the admin API.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Status {
    pub runs: u64,
    #[serde(serialize_with = "clock::as_utc_or_null")]
    pub last_run_at: Option<Micros>,
    /// What the last run did.
    pub last_result: String,
    /// Empty after a good run.
    pub last_error: String,
    /// Another process has the duty.
    pub elsewhere: bool,
}

struct Entry {
    kick: Arc<Notify>,
    status: Status,
}

/// The loops of this process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Reconcilers {
    entries: Arc<Mutex<BTreeMap<&'static str, Entry>>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Reconcilers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a loop; its first run is soon. One that works with the app holds it weakly. `jobs` names this process as a worker.
    pub fn start(&self, jobs: &Jobs, reconciler: Arc<dyn Reconciler>) {
        let kick = Arc::new(Notify::new());
        self.lock().insert(reconciler.name(), Entry { kick: Arc::clone(&kick), status: Status::default() });
        self.tasks.spawn(turn(self.clone(), jobs.clone(), reconciler, kick));
    }

    /// Starts the loops that every service has.
    pub fn start_builtin(&self, store: &Store, jobs: &Jobs) {
        self.start(jobs, Arc::new(dead_workers::DeadWorkers::new(store.clone(), jobs.clone())));
        self.start(jobs, Arc::new(deliver::Deliver::new(store.clone(), vec![Arc::new(LogSink)])));
        self.start(jobs, Arc::new(purge::Purge::new(store.clone())));
    }

    /// Runs a loop soon. False: there is none of this name.
    pub fn kick(&self, name: &str) -> bool {
        self.lock().get(name).map(|e| e.kick.notify_one()).is_some()
    }

    pub fn status(&self) -> BTreeMap<&'static str, Status> {
        self.lock().iter().map(|(name, e)| (*name, e.status.clone())).collect()
    }

    /// Ends every loop; a run in progress is dropped.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn note(&self, name: &'static str, change: impl FnOnce(&mut Status)) {
        if let Some(entry) = self.lock().get_mut(name) {
            change(&mut entry.status);
        }
    }
}

async fn turn(all: Reconcilers, jobs: Jobs, reconciler: Arc<dyn Reconciler>, kick: Arc<Notify>) {
    let work = async {
        let mut pause = Duration::ZERO;
        loop {
            tokio::select! {
                () = kick.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
            one_run(&all, &jobs, &*reconciler).await;
            pause = reconciler.every().mul_f64(rand::rng().random_range(0.9..1.1));
        }
    };
    tokio::select! {
        () = all.stop.cancelled() => {}
        () = work => {}
    }
}

async fn one_run(all: &Reconcilers, jobs: &Jobs, reconciler: &dyn Reconciler) {
    let name = reconciler.name();
    if reconciler.is_duty() && !has_duty(jobs, reconciler).await {
        all.note(name, |s| s.elsewhere = true);
        return;
    }
    let verdict = AssertUnwindSafe(reconciler.run()).catch_unwind().await.unwrap_or_else(|_| Err(Error::internal("panicked")));
    match &verdict {
        Ok(done) if done.is_empty() => {}
        Ok(done) => tracing::info!(reconciler = name, done, "reconciled"),
        Err(e) => {
            metrics::counter!("stowage_reconcile_failures_total", "loop" => name).increment(1);
            tracing::warn!(reconciler = name, error = %chain(e), "a reconcile run failed; it is due again");
        }
    }
    all.note(name, |s| {
        s.runs += 1;
        s.elsewhere = false;
        s.last_run_at = Some(clock::now());
        (s.last_result, s.last_error) = match verdict {
            Ok(done) => (done, String::new()),
            Err(e) => (String::new(), e.to_string()),
        };
    });
}

/// Whether this process carries out the duty now. Held for more than a turn, so that a living holder keeps it.
async fn has_duty(jobs: &Jobs, reconciler: &dyn Reconciler) -> bool {
    if jobs.store().is_sqlite() {
        return true; // there is no other process
    }
    let Some(lease) = jobs.lease() else { return false };
    let length = reconciler.holds_duty().max(jobs.options().lease);
    let take = async {
        let mut tx = jobs.store().begin().await?;
        let ours = tx.take_duty(reconciler.name(), lease.worker(), length).await?;
        tx.commit().await?;
        crate::store::StoreResult::Ok(ours)
    };
    take.await.unwrap_or_else(|e| {
        tracing::warn!(reconciler = reconciler.name(), error = %e, "cannot ask for the duty");
        false
    })
}
