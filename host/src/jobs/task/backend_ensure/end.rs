//! The end of a run: what was busy to the end is named, nothing is held any more, and one run more follows where somebody
//! asked meanwhile.

use super::{
    ask::forget_gone,
    write::{AT_ONCE, wake},
};
use crate::{
    clock,
    jobs::{
        JobContext, Outcome, TaskError,
        task::{share_support::tell, tried::settled},
    },
    notify::share_message::{ShareAction, ShareDetail},
    service::share_service::start::{self, Asker, Cause},
    store::{
        Tx,
        sql::{
            ensure::{EnsureCounts, EnsureRun},
            shares::ShareRow,
        },
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

/// It ends here; what it holds is as before, and whoever owns it reads so where there is something to say.
pub(super) async fn give_up(cx: &JobContext, id: &str, why: &str, told: Option<ShareDetail>) -> Result<Outcome, TaskError> {
    tracing::warn!(host = cx.job.resource_id, why, "a run of ensure is given up");
    while let Some((part, shares)) = cx.app.store.ensure_part(id).await? {
        if shares.is_empty() {
            forget_gone(cx, id, part).await?;
        }
        for some in shares.chunks(AT_ONCE) {
            skip(cx, id, some, why, told).await?;
        }
    }
    let mut tx = cx.app.store.begin().await?;
    if let Some(run) = close(cx, &mut tx, id, "given_up", Some(why)).await? {
        repeat(cx, &mut tx, &run).await?;
    }
    settled(cx, tx).await
}

async fn skip(cx: &JobContext, id: &str, shares: &[ShareRow], why: &str, told: Option<ShareDetail>) -> Result<(), TaskError> {
    let ids: Vec<String> = shares.iter().map(|s| s.id.clone()).collect();
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_let_go(id, &ids, clock::now()).await?;
    for share in shares {
        if let Some(detail) = told {
            tell(&mut tx, cx, share, ShareAction::Ensure, detail, "").await?;
        }
        tx.ensure_report(id, &share.id, "skipped", Some(why)).await?;
    }
    let skipped = i64::try_from(shares.len()).unwrap_or(0);
    tx.ensure_count(id, EnsureCounts { skipped, ..EnsureCounts::default() }).await?;
    wake(cx, &mut tx).await?;
    cx.commit_step(tx).await
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
