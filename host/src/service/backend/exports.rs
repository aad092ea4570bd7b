//! Volumes that are connected are exported again when their back end comes into service: a restart of the array may have lost
//! what it exported. A run goes over them ([`crate::jobs::task`], `backend.exports`), in one row a run, as ensuring shares does.
//!
//! It comes into service with its first good report after a process began to serve it, after its driver or its configuration
//! changed, and after it was down. One such event makes one run, however many processes see it: a run that began after it
//! counts for it, and one that is under way is repeated only where what was lost may have been lost since. Of processes that start one
//! after the other each has it done once more; what is exported is left alone, so that costs a call a volume.
//! Nothing is begun where nothing is connected, and for drivers that do not connect.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::{
    app::App,
    clock::{self, Micros},
    config::BackendKind,
    driver::Backend,
    jobs::NewJob,
    store::{
        StoreResult, Tx,
        sql::{
            ensure::{EnsureRun, NewEnsureRun},
            ensure_shares::EnsureShare,
        },
    },
};

/// The task.
pub const KIND: &str = "backend.exports";
/// A run of many volumes on a slow array may take long.
const AGE: Duration = Duration::from_secs(24 * 3600);
/// How long a run is remembered.
const KEEP: Duration = Duration::from_secs(30 * 24 * 3600);
/// How many single volumes are shown.
const SHOWN: i64 = 100;

/// How a back end came into service, by the word of a good report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// This process has served it since then, and not before.
    Start(Micros),
    /// This process has served another incarnation before.
    Change(Micros),
    /// It was down. The report's call began then.
    Up(Micros),
}

impl Came {
    const fn word(self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::Change(_) => "change",
            Self::Up(_) => "up",
        }
    }

    /// Whether a run, of which it is known when it began and of which incarnation, has asked, or will ask, for all that this may
    /// have lost.
    fn is_covered_by(self, run: &EnsureRun, incarnation: &str) -> bool {
        let begun_since = |at| run.started_at >= at;
        match self {
            // another process swapped first
            Self::Change(since) => run.incarnation.as_deref() == Some(incarnation) || begun_since(since),
            // a run that is under way may have asked before that
            Self::Start(since) | Self::Up(since) => begun_since(since),
        }
    }
}

/// Begins a run where one is needed. True: there is something to do that was not to be done before.
///
/// # Errors
/// The store's; it is to be looked at again.
pub async fn came_into_service(app: &App, backend: &Backend, came: Came) -> StoreResult<bool> {
    if backend.config.kind != BackendKind::Block || backend.connection_info().is_none() {
        return Ok(false);
    }
    if !app.store.has_connected_volumes(&backend.host).await? {
        return Ok(false);
    }
    let incarnation = backend.incarnation();
    let mut tx = app.store.begin().await?;
    if !tx.ensure_turn(&backend.host).await? {
        return Ok(false);
    }
    match tx.ensure_last(&backend.host).await? {
        Some(run) if came.is_covered_by(&run, &incarnation) => {
            tracing::info!(host = backend.host, run_id = run.id, "what is connected has been exported again since, or is just being");
            return Ok(false);
        }
        Some(run) if run.ended_at.is_none() => {
            tx.ensure_repeat(&run.id).await?;
        }
        _ => {
            begin(app, &mut tx, &backend.host, came.word(), incarnation).await?;
        }
    }
    tx.commit().await?;
    Ok(true)
}

/// Begins a run. The caller has the back end's turn, and no run is under way.
pub async fn begin(app: &App, tx: &mut Tx, host: &str, cause: &'static str, incarnation: String) -> StoreResult<()> {
    let now = tx.database_now().await?;
    let run = NewEnsureRun {
        id: Uuid::new_v4().to_string(),
        backend: host.to_owned(),
        cause,
        request_id: format!("req-{}", Uuid::new_v4()),
        project_id: String::new(),
        user_id: String::new(),
        // what is in use stays in use
        changes_status: false,
        incarnation: Some(incarnation),
        batch: at_once(app, host),
        started_at: now,
    };
    tx.exports_begin(&run, now - clock::micros(KEEP)).await?;
    tracing::info!(host, cause, "the back end came into service: what is connected is exported again");
    let job = NewJob {
        kind: KIND,
        resource_kind: "backend",
        order_key: format!("exports:{host}"),
        resource_id: host.to_owned(),
        backend: Some(host.to_owned()),
        payload: json!({ "run": run.id }),
        max_age: AGE,
        request_id: run.request_id,
        project_id: String::new(),
        user_id: String::new(),
    };
    tx.enqueue(&app.jobs, job).await?;
    Ok(())
}

/// How many volumes are asked for at once: half of what the back end takes, so that its other work goes on beside.
pub fn at_once(app: &App, host: &str) -> i64 {
    let room = app.drivers.backend(host).map_or(1, |b| b.config.grants.concurrency);
    i64::try_from(room / 2).unwrap_or(1).clamp(1, 8)
}

/// A run as an operator sees it.
#[derive(Debug, Clone, Serialize)]
pub struct ExportsView {
    pub run_id: String,
    pub host: String,
    /// `running`, `done`, `unsupported`, `given_up`.
    pub state: String,
    /// `start`, `change`, `up`, `repeat`.
    pub cause: String,
    pub reason: Option<String>,
    /// One more run follows.
    pub repeats: bool,
    /// Connected volumes when it began.
    pub total: i64,
    /// Volumes that had their turn.
    pub done: i64,
    /// Of which the driver says that they are exported.
    pub exported: i64,
    pub failed: i64,
    /// No longer connected when their turn came, or busy until it had passed.
    pub skipped: i64,
    pub started_at: String,
    pub ended_at: Option<String>,
    /// Those that failed, with the driver's words.
    pub volumes: Vec<VolumeView>,
}

/// A volume that there is something to say of.
#[derive(Debug, Clone, Serialize)]
pub struct VolumeView {
    pub volume_id: String,
    /// `failed`, `skipped`.
    pub state: String,
    pub reason: Option<String>,
}

/// How far the run of a back end of volumes is, or how its last one ended; none: there was none.
pub async fn progress(app: &App, host: &str) -> StoreResult<Option<ExportsView>> {
    let Some(run) = app.store.ensure_last(host).await? else { return Ok(None) };
    let volumes = app.store.ensure_shares(&run.id, SHOWN).await?;
    let view = |v: EnsureShare| VolumeView { volume_id: v.share_id, state: v.state, reason: v.reason };
    Ok(Some(ExportsView {
        state: run.outcome.clone().unwrap_or_else(|| "running".to_owned()),
        done: run.done(),
        exported: run.unchanged,
        started_at: clock::utc_text(run.started_at),
        ended_at: run.ended_at.map(clock::utc_text),
        run_id: run.id,
        host: run.backend,
        cause: run.cause,
        reason: run.reason,
        repeats: run.repeat_once,
        total: run.total,
        failed: run.failed,
        skipped: run.skipped,
        volumes: volumes.into_iter().map(view).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(started_at: Micros, ended: bool, incarnation: &str) -> EnsureRun {
        EnsureRun {
            id: "r".into(),
            backend: "h@b".into(),
            cause: "start".into(),
            request_id: String::new(),
            project_id: String::new(),
            user_id: String::new(),
            repeat_once: false,
            changes_status: false,
            prepared: false,
            fingerprint: None,
            incarnation: Some(incarnation.into()),
            walked_to: String::new(),
            walked: ended,
            rounds: 0,
            batch: 1,
            total: 1,
            unchanged: 0,
            updated: 0,
            broken: 0,
            failed: 0,
            left_out: 0,
            skipped: 0,
            outcome: None,
            reason: None,
            started_at,
            ended_at: ended.then_some(started_at + 1),
        }
    }

    #[test]
    fn one_event_makes_one_run_whoever_sees_it() {
        for (came, run, covered) in [
            // another process started at about the same time
            (Came::Start(5), run(6, true, "x"), true),
            (Came::Start(5), run(4, true, "x"), false),
            // array and service may have gone down together
            (Came::Start(5), run(4, false, "x"), false),
            // another process swapped first
            (Came::Change(9), run(6, true, "new"), true),
            (Came::Change(9), run(6, false, "old"), false),
            (Came::Change(9), run(6, true, "old"), false),
            // it came up after what this run asked for may have been lost
            (Came::Up(9), run(6, false, "new"), false),
            (Came::Up(9), run(6, true, "new"), false),
            (Came::Up(9), run(10, false, "new"), true),
        ] {
            assert_eq!(came.is_covered_by(&run, "new"), covered, "{came:?} {run:?}");
        }
    }
}
