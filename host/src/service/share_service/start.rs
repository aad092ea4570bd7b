//! The beginning of a run of ensure: its row, its first shares, its job and its event, in the caller's transaction.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use crate::{
    app::App,
    clock,
    jobs::NewJob,
    notify::NewEvent,
    store::{
        StoreError, StoreResult, Tx,
        sql::ensure::{EnsureRun, NewEnsureRun},
    },
};

/// The task, and the order key's beginning.
pub const KIND: &str = "backend.ensure";
/// How many shares are asked for in one call where the driver has no wish.
const BATCH: i64 = 500;
/// More than this no driver gets: its shares are taken, and what it says is written, in one transaction for each hundred.
const LARGEST_BATCH: i64 = 2000;
/// A run of many shares on a slow array may take long. After this what it holds is let go.
const AGE: Duration = Duration::from_secs(24 * 3600);
/// How long a run is remembered.
const KEEP: Duration = Duration::from_secs(30 * 24 * 3600);

/// Why a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// An operator asked.
    Request,
    /// Somebody asked while another run was under way.
    Repeat,
    /// The driver or its configuration changed.
    Change,
}

impl Cause {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Repeat => "repeat",
            Self::Change => "change",
        }
    }
}

/// On whose behalf.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    pub request_id: &'a str,
    pub project_id: &'a str,
    pub user_id: &'a str,
}

/// Begins a run, of the driver and configuration `incarnation` where it names them. The caller has the back end's turn, and no
/// run is under way.
pub async fn start(
    app: &App,
    tx: &mut Tx,
    backend: &str,
    cause: Cause,
    incarnation: Option<String>,
    asker: Asker<'_>,
) -> StoreResult<EnsureRun> {
    let now = clock::now();
    let new = NewEnsureRun {
        id: Uuid::new_v4().to_string(),
        backend: backend.to_owned(),
        cause: cause.as_str(),
        request_id: asker.request_id.to_owned(),
        project_id: asker.project_id.to_owned(),
        user_id: asker.user_id.to_owned(),
        changes_status: app.config.get().share.update_shares_status_on_ensure,
        incarnation,
        batch: batch(app, backend),
        started_at: now,
    };
    tx.ensure_begin(&new, now - clock::micros(KEEP)).await?;
    let mut run = tx.ensure_run(&new.id).await?.ok_or_else(|| StoreError::Corrupt("the run just inserted is not there".to_owned()))?;
    // the first of them, so that whoever asked finds them taken
    tx.ensure_take_next(&mut run, new.batch, now).await?;
    event(tx, "share.ensure.start", &run).await?;
    tx.enqueue(&app.jobs, job(backend, json!({ "run": run.id }), asker)).await?;
    Ok(run)
}

/// A job about a back end's shares as a whole; they run one at a time.
pub fn job(backend: &str, payload: serde_json::Value, asker: Asker<'_>) -> NewJob {
    NewJob {
        kind: KIND,
        resource_kind: "backend",
        order_key: format!("ensure:{backend}"),
        resource_id: backend.to_owned(),
        backend: Some(backend.to_owned()),
        payload,
        max_age: AGE,
        request_id: asker.request_id.to_owned(),
        project_id: asker.project_id.to_owned(),
        user_id: asker.user_id.to_owned(),
    }
}

/// How many shares the driver wants in one call.
pub fn batch(app: &App, backend: &str) -> i64 {
    let wish = app.drivers.backend(backend).ok().and_then(|b| b.capabilities()).and_then(|c| c.report.features.ensure_batch);
    wish.map_or(BATCH, i64::from).clamp(1, LARGEST_BATCH)
}

/// An event about a run.
pub async fn event(tx: &mut Tx, event_type: &str, run: &EnsureRun) -> StoreResult<()> {
    tx.publish(&NewEvent {
        event_type: event_type.to_owned(),
        resource_kind: "backend",
        resource_id: run.backend.clone(),
        project_id: run.project_id.clone(),
        user_id: run.user_id.clone(),
        request_id: run.request_id.clone(),
        payload: json!({
            "run_id": run.id,
            "host": run.backend,
            "cause": run.cause,
            "outcome": run.outcome,
            "total": run.total,
            "unchanged": run.unchanged,
            "updated": run.updated,
            "broken": run.broken,
            "failed": run.failed,
            "left_out": run.left_out,
            "skipped": run.skipped,
        }),
    })
    .await
}
