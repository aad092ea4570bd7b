//! `backend.exports`: has the connected volumes of a back end exported again, some at a time.
//!
//! It calls no driver itself. For each volume it puts in a job of that volume (`volume.ensure_export`), so that the call has its
//! place among the volume's connects, disconnects and its delete, and is newer, for the array, than all that was before it.
//! No more of them are in the queue than a part of what the back end takes at once; the next follow when some have ended.
//! How far it is stands in the run's row and changes in one transaction with what was put in: whoever takes it over goes on there.
//! While the back end is down, or not loaded, it waits: when that comes up again, one more run follows.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use super::{tried::settled, volume_export};
use crate::{
    clock,
    jobs::{JobContext, Outcome, Task, TaskError},
    service::backend::exports::{self, KIND, at_once},
    store::sql::ensure::EnsureRun,
};

pub struct BackendExports;

/// Between two looks at what has ended.
const PAUSE: Duration = Duration::from_millis(100);
/// While the back end is not there.
const AWAY: Duration = Duration::from_secs(2);

impl Task for BackendExports {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            match under_way(cx, &cx.job.payload).await? {
                Some(run) => step(cx, &run).await,
                None => settled(cx, cx.app.store.begin().await?).await,
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            match under_way(cx, &cx.job.payload).await? {
                Some(run) => end(cx, &run, "given_up", Some("it did not end in time")).await,
                None => settled(cx, cx.app.store.begin().await?).await,
            }
        })
    }
}

/// The run that a payload names, while it has not ended.
pub(super) async fn under_way(cx: &JobContext, payload: &Value) -> Result<Option<EnsureRun>, TaskError> {
    let Some(id) = payload.get("run").and_then(Value::as_str) else { return Ok(None) };
    Ok(cx.app.store.ensure_run(id).await?.filter(|run| run.ended_at.is_none()))
}

async fn step(cx: &JobContext, run: &EnsureRun) -> Result<Outcome, TaskError> {
    let store = &cx.app.store;
    match cx.app.drivers.backend(&run.backend) {
        Err(e) => return Ok(later(cx, AWAY, e.to_string())),
        Ok(backend) if backend.connection_info().is_none() => {
            return end(cx, run, "unsupported", Some("its driver connects no volumes")).await;
        }
        Ok(_) => {}
    }
    if let Some(Err(why)) = store.backend(&run.backend).await?.map(|row| row.state(clock::now())) {
        return Ok(later(cx, AWAY, format!("the back end is down: {why}")));
    }
    let asked = store.unfinished_jobs(volume_export::KIND, &run.backend).await?;
    if run.walked {
        return if asked == 0 { end(cx, run, "done", None).await } else { Ok(later(cx, PAUSE, being_asked(asked))) };
    }
    let room = at_once(&cx.app, &run.backend) - asked;
    if room > 0 {
        put_in(cx, run, room).await?;
    }
    Ok(later(cx, PAUSE, being_asked(asked)))
}

/// A transaction for each volume: none is held up by another's.
async fn put_in(cx: &JobContext, run: &EnsureRun, room: i64) -> Result<(), TaskError> {
    let next = cx.app.store.connected_volumes_after(&run.backend, &run.walked_to, room).await?;
    let is_end = i64::try_from(next.len()).is_ok_and(|n| n < room);
    for volume in next {
        let mut tx = cx.app.store.begin().await?;
        tx.ensure_walked(&run.id, Some(&volume.id)).await?;
        tx.enqueue(&cx.app.jobs, volume_export::job(cx, run, volume)).await?;
        cx.commit_step(tx).await?;
    }
    if is_end {
        let mut tx = cx.app.store.begin().await?;
        tx.ensure_walked(&run.id, None).await?;
        cx.commit_step(tx).await?;
    }
    Ok(())
}

fn later(cx: &JobContext, after: Duration, reason: String) -> Outcome {
    Outcome::Again { after, payload: cx.job.payload.clone(), reason }
}

fn being_asked(n: i64) -> String {
    format!("{n} volumes are being asked for")
}

async fn end(cx: &JobContext, run: &EnsureRun, outcome: &str, why: Option<&str>) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_turn(&run.backend).await?;
    let ended = tx.ensure_end(&run.id, outcome, why, clock::now()).await?;
    if let Some(run) = tx.ensure_run(&run.id).await?.filter(|_| ended) {
        tracing::info!(
            host = run.backend,
            outcome,
            exported = run.unchanged,
            failed = run.failed,
            skipped = run.skipped,
            why,
            "a run over connected volumes has ended"
        );
        if run.repeat_once
            && let Ok(backend) = cx.app.drivers.backend(&run.backend)
        {
            exports::begin(&cx.app, &mut tx, &run.backend, "repeat", backend.incarnation()).await?;
        }
    }
    settled(cx, tx).await
}
