//! Asks every back end what it can do and how much room it has, and stores the answer with the moment the call began.
//!
//! Each back end is asked on its own, so that a slow or hanging one delays none of the others; of several processes one
//! asks in each interval, except right after a start, a swap or a change of configuration, when each asks at once. A back end
//! that answers is up; one that refuses is down with the reason at once; one whose array does not answer, or whose driver traps
//! or breaks a limit, goes down with the third failure in a row. Only a call that was made counts: the process that got no answer asks again soon,
//! whoever's turn it is, and a turn that another process has leaves its count as it was. A call that could not be made for a
//! reason of the host's (its limits, its lease) says nothing of the back end. Of several processes one that cannot use a back
//! end (its driver is not loaded there, a secret is missing on that machine) does not take it down while another has
//! answers: only when the last report is its own, or older than three intervals. After a report that changes what volumes carry
//! (`shared_targets`), and at start, the volumes follow. After one that says that the back end has come into service, what is
//! connected is exported again ([`exports`]). On failure the last figures stay; a panic is a failure.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use futures::{FutureExt, future::BoxFuture};
use rand::Rng;

use super::Reconciler;
use crate::{
    app::App,
    clock::{self, Micros},
    driver::{Call, DriverError, ErrorKind},
    error::Result,
    scheduler::{ReportStored, dictionary},
    service::{
        backend::exports::{self, Came},
        volume::follow,
    },
    store::{StoreError, StoreResult, sql::pools::PoolRow},
};

/// The loop's name, for `Reconcilers::kick`.
pub const NAME: &str = "stats";

/// Failures in a row that may pass by themselves, before a back end counts as down.
const PATIENCE: u32 = 3;
/// Intervals without any process's answer after which every process's failure counts.
const SILENT_INTERVALS: u32 = 3;
/// The wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The loop. Cheap to clone.
#[derive(Clone)]
pub struct Stats {
    app: Weak<App>,
    turns: Arc<Mutex<HashMap<String, Turn>>>,
    after_failure: Duration,
}

/// How a back end stands with this process.
struct Turn {
    due: Instant,
    running: bool,
    /// Asked for while it was running.
    again: bool,
    /// Calls in a row of this process that failed.
    failures: u32,
    /// When the last call began that this process had an answer to.
    answered: Option<Micros>,
    /// This process has had no answer since its start, the last swap or change: it asks whoever else does.
    fresh: bool,
    /// The back end came into service here, and what is connected was not looked at since.
    came: Option<Came>,
}

/// How a process comes to a turn.
#[derive(Debug, Clone, Copy)]
struct Mood {
    /// It asks whoever's turn it is.
    fresh: bool,
    /// Its last call was not answered: it asks, but takes nobody's turn.
    failing: bool,
    /// What is connected is to be looked at.
    came: Option<Came>,
}

/// What became of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The back end has answered a call that began then.
    Answered(Micros),
    /// Another process asked it in this interval.
    NotOurTurn,
}

impl Turn {
    fn now() -> Self {
        Self {
            due: Instant::now(),
            running: false,
            again: false,
            failures: 0,
            answered: None,
            fresh: true,
            came: Some(Came::Start(clock::now())),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Driver(#[from] DriverError),
    #[error("store: {0}")]
    Store(#[from] StoreError),
    #[error("the loop panicked")]
    Panicked,
}

impl Failure {
    /// The driver's error, where it says something about the back end.
    fn of_backend(&self) -> Option<&DriverError> {
        match self {
            // it was this process that could not make the call
            Self::Driver(e) if matches!(e.kind, ErrorKind::Saturated | ErrorKind::LeaseLost) => None,
            Self::Driver(e) => Some(e),
            Self::Store(_) | Self::Panicked => None,
        }
    }
}

impl Stats {
    pub fn new(app: &Arc<App>) -> Self {
        Self { app: Arc::downgrade(app), turns: Arc::default(), after_failure: AFTER_FAILURE }
    }

    /// Another wait after a failure than usual.
    #[must_use]
    pub fn retry_after(mut self, pause: Duration) -> Self {
        self.after_failure = pause;
        self
    }

    /// Asks this back end soon, whoever's turn it is.
    pub fn soon(&self, host: &str) {
        {
            let mut turns = self.turns();
            let turn = turns.entry(host.to_owned()).or_insert_with(Turn::now);
            turn.due = Instant::now();
            turn.fresh = true;
            turn.again = turn.running;
            let now = clock::now();
            turn.came = Some(if matches!(turn.came, Some(Came::Start(_))) { Came::Start(now) } else { Came::Change(now) });
        }
        if let Some(app) = self.app.upgrade() {
            app.reconcilers.kick(NAME);
        }
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<String, Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The back ends to be asked now, marked as running.
    fn take_due(&self, hosts: &[String]) -> Vec<(String, Mood)> {
        let mut turns = self.turns();
        turns.retain(|host, turn| turn.running || hosts.contains(host));
        let now = Instant::now();
        let mut due = Vec::new();
        for host in hosts {
            let turn = turns.entry(host.clone()).or_insert_with(Turn::now);
            if !turn.running && turn.due <= now {
                turn.running = true;
                due.push((host.clone(), Mood { fresh: turn.fresh, failing: turn.failures > 0, came: turn.came }));
            }
        }
        due
    }

    /// One back end's turn, from asking to the next due time.
    async fn one(self, app: Arc<App>, host: String, mood: Mood) {
        let interval = app.config.get().scheduler.report_interval;
        let asked = AssertUnwindSafe(self.ask(&app, &host, mood, interval)).catch_unwind().await;
        let outcome = asked.unwrap_or(Err(Failure::Panicked));
        let (failures, ours) = {
            let mut turns = self.turns();
            let Some(turn) = turns.get_mut(&host) else { return };
            turn.running = false;
            let pause = match &outcome {
                Ok(Asked::Answered(began_at)) => {
                    turn.failures = 0;
                    turn.answered = Some(*began_at);
                    turn.fresh = turn.again;
                    interval
                }
                Ok(Asked::NotOurTurn) => interval / 4,
                Err(failure) => {
                    turn.failures += u32::from(failure.of_backend().is_some());
                    turn.fresh = true;
                    self.after_failure.min(interval)
                }
            };
            turn.due = Instant::now() + pause.mul_f64(rand::rng().random_range(0.9..1.1));
            if std::mem::take(&mut turn.again) {
                turn.due = Instant::now();
            }
            (turn.failures, turn.answered)
        };
        if let Err(failure) = outcome {
            let silent_since = clock::now() - clock::micros(interval * SILENT_INTERVALS);
            failed(&app, &host, &failure, failures, ours.unwrap_or(0), silent_since).await;
        }
    }

    async fn ask(&self, app: &Arc<App>, host: &str, mood: Mood, interval: Duration) -> Result<Asked, Failure> {
        // before the turn is taken: who cannot ask leaves it to others
        let backend = app.drivers.backend(host)?;
        let is_ours = !mood.failing && take_turn(app, host, interval).await?;
        if !is_ours && !mood.fresh {
            return Ok(Asked::NotOurTurn);
        }
        let began_at = app.store.now().await?;
        let call = Call::internal(format!("report:{host}"), backend.config.grants.call_timeout);
        let timed = backend.refresh(&call).await?;
        let report = dictionary::stored(&backend, &timed.report, began_at, &app.config.get().scheduler);
        let mut tx = app.store.begin().await?;
        tx.shared_targets_at_least(host, report.shared_targets).await?;
        tx.commit().await?;
        let mut tx = app.store.begin().await?;
        let stored = tx.store_report(&report).await?;
        tx.commit().await?;
        metrics::counter!("stowage_reports_total", "backend" => host.to_owned(), "outcome" => "ok").increment(1);
        for pool in app.store.pools_of(host).await? {
            show(&pool);
        }
        let mut came = mood.came;
        if matches!(stored, ReportStored::Stored { was_down: true, .. }) {
            came = Some(Came::Up(began_at));
            // the row does not say so a second time
            self.note_came(host, came);
        }
        if let Some(came) = came {
            exports::came_into_service(app, &backend, came).await?;
            self.looked_at(host, came);
        }
        let ReportStored::Stored { shared_targets_before, .. } = stored else { return Ok(Asked::Answered(began_at)) };
        // the less safe way, and what else volumes show of their back end
        if mood.fresh || shared_targets_before != Some(report.shared_targets) {
            let changed = follow::follow(app, host).await?;
            if changed > 0 {
                tracing::info!(backend = host, volumes = changed, "the volumes follow what their back end reports");
            }
        }
        Ok(Asked::Answered(began_at))
    }
}

impl Stats {
    fn note_came(&self, host: &str, came: Option<Came>) {
        if let Some(turn) = self.turns().get_mut(host) {
            turn.came = came;
        }
    }

    /// What is connected was looked at since `came`. A swap meanwhile has it looked at once more.
    fn looked_at(&self, host: &str, came: Came) {
        if let Some(turn) = self.turns().get_mut(host)
            && turn.came == Some(came)
        {
            turn.came = None;
        }
    }
}

async fn take_turn(app: &App, host: &str, interval: Duration) -> StoreResult<bool> {
    let mut tx = app.store.begin().await?;
    let mine = tx.take_report_turn(host, interval).await?;
    tx.commit().await?;
    Ok(mine)
}

/// A report that did not come; `ours`: when this process's last answered call began.
async fn failed(app: &App, host: &str, failure: &Failure, failures: u32, ours: Micros, silent_since: Micros) {
    metrics::counter!("stowage_reports_total", "backend" => host.to_owned(), "outcome" => "failed").increment(1);
    let Some(error) = failure.of_backend() else {
        tracing::warn!(backend = host, error = %failure, "a report could not be asked for or stored; the back end is asked again");
        return;
    };
    tracing::warn!(backend = host, %error, failures, "the back end did not report");
    // an array that is busy or slow for once, or one trap, keeps its volumes placeable; a refusal will not go away by itself
    let passing = matches!(error.kind, ErrorKind::Transient | ErrorKind::Busy) || error.kind.is_misbehaviour();
    if passing && failures < PATIENCE {
        return;
    }
    // there is no other process on SQLite
    let ours = if app.store.is_sqlite() { Micros::MAX } else { ours };
    match mark_down(app, host, &error.to_string(), ours, silent_since).await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(backend = host, "another process has answers of the back end; it stays up"),
        Err(e) => tracing::warn!(backend = host, error = %e, "the back end could not be marked as down"),
    }
}

async fn mark_down(app: &App, host: &str, reason: &str, ours: Micros, silent_since: Micros) -> StoreResult<bool> {
    let mut tx = app.store.begin().await?;
    let marked = tx.mark_backend_down(host, reason, ours, silent_since).await?;
    tx.commit().await?;
    Ok(marked)
}

fn show(pool: &PoolRow) {
    #[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^52 GiB")]
    let float = |gib: i64| gib as f64;
    let gauge = |kind: &'static str, value: f64| {
        metrics::gauge!("stowage_pool_capacity_gib", "pool" => pool.name.clone(), "kind" => kind).set(value);
    };
    // infinite and unknown have no number to show
    gauge("total", pool.total.gib().unwrap_or(f64::NAN));
    gauge("free", pool.free.gib().unwrap_or(f64::NAN));
    gauge("claimed", float(pool.claimed_gib));
    gauge("allocated", float(pool.allocated_gib));
    metrics::gauge!("stowage_pool_resources", "pool" => pool.name.clone()).set(float(pool.resources));
}

impl Reconciler for Stats {
    fn name(&self) -> &'static str {
        NAME
    }

    /// How soon a back end that has come due is seen; each has its own interval.
    fn every(&self) -> Duration {
        Duration::from_millis(500)
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let Some(app) = self.app.upgrade() else { return Ok(String::new()) };
            let config = app.config.get();
            let hosts: Vec<String> = config.backends.iter().map(|b| config.backend_host(&b.name)).collect();
            for (host, mood) in self.take_due(&hosts) {
                tokio::spawn(self.clone().one(Arc::clone(&app), host, mood));
            }
            Ok(String::new())
        })
    }
}
