//! The end of a run: what was busy to the end is named, nothing is held any more, and one run more follows where somebody
//! asked meanwhile.

use super::write::wake;
use crate::{
    clock,
    jobs::{JobContext, Outcome, TaskError, task::tried::settled},
    service::share_service::start::{self, Asker, Cause},
    store::{
        Tx,
        sql::ensure::{EnsureCounts, EnsureRun},
    },
};

/// Every share had its turn.
pub(super) async fn end(cx: &JobContext, id: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let Some(run) = close(cx, &mut tx, id, "done", None).await? else { return settled(cx, tx).await };
    if let Some(fingerprint) = &run.fingerprint {
        tx.ensure_remember(&run.backend, fingerprint, clock::now()).await?;
    }
    repeat(cx, &mut tx, &run).await?;
    settled(cx, tx).await
}

/// It ends here; what it holds is as before.
pub(super) async fn give_up(cx: &JobContext, id: &str, why: &str) -> Result<Outcome, TaskError> {
    tracing::warn!(host = cx.job.resource_id, why, "a run of ensure is given up");
    let mut tx = cx.app.store.begin().await?;
    let held = tx.ensure_held(id).await?;
    // as many as a statement takes
    for some in held.chunks(500) {
        tx.ensure_let_go(id, some, clock::now()).await?;
        for share in some {
            tx.ensure_report(id, share, "skipped", Some(why)).await?;
        }
        let skipped = i64::try_from(some.len()).unwrap_or(0);
        tx.ensure_count(id, EnsureCounts { skipped, ..EnsureCounts::default() }).await?;
    }
    wake(cx, &mut tx).await?;
    if let Some(run) = close(cx, &mut tx, id, "given_up", Some(why)).await? {
        repeat(cx, &mut tx, &run).await?;
    }
    settled(cx, tx).await
}

/// The run as it ended; none: it had ended before, or its back end is gone.
async fn close(cx: &JobContext, tx: &mut Tx, id: &str, outcome: &str, why: Option<&str>) -> Result<Option<EnsureRun>, TaskError> {
    tx.ensure_turn(&cx.job.resource_id).await?;
    let skipped = tx.ensure_skip_busy(id).await?;
    tx.ensure_count(id, EnsureCounts { skipped, ..EnsureCounts::default() }).await?;
    if !tx.ensure_end(id, outcome, why, clock::now()).await? {
        return Ok(None);
    }
    let run = tx.ensure_run(id).await?;
    if let Some(run) = &run {
        start::event(tx, "share.ensure.end", run).await?;
    }
    Ok(run)
}

async fn repeat(cx: &JobContext, tx: &mut Tx, run: &EnsureRun) -> Result<(), TaskError> {
    if run.repeat_once {
        let asker = Asker { request_id: &run.request_id, project_id: &run.project_id, user_id: &run.user_id };
        start::start(&cx.app, tx, &run.backend, Cause::Repeat, None, asker).await?;
    }
    Ok(())
}
