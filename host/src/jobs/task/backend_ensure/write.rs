//! What the driver found of each share, written some at a time: the database has others to serve.

use std::collections::BTreeMap;

use crate::{
    clock::{self, Micros},
    domain::share::{ENSURE_FROM, ShareStatus},
    driver::types::{EnsureOutcome, EnsuredUpdate},
    jobs::{
        JobContext, TaskError,
        task::{access_anew, share_moved, share_support::tell},
    },
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy::event_now,
    store::{
        StoreResult, Tx,
        sql::{
            ensure::{EnsureCounts, EnsureRun},
            jobs::CHANNEL,
            metadata::{MetadataOf, Pairs},
            shares::ShareRow,
        },
    },
};

/// Shares of one transaction.
pub(super) const AT_ONCE: usize = 100;

/// `outcomes` are by instance. A share without one was left out.
pub(super) async fn write(
    cx: &JobContext,
    run: &EnsureRun,
    shares: &[ShareRow],
    mut outcomes: BTreeMap<String, EnsureOutcome>,
) -> Result<(), TaskError> {
    for some in shares.chunks(AT_ONCE) {
        let now = clock::now();
        let mut tx = cx.app.store.begin().await?;
        let ids: Vec<String> = some.iter().map(|s| s.id.clone()).collect();
        tx.ensure_let_go(&run.id, &ids, now).await?;
        let mut counts = EnsureCounts::default();
        for share in some {
            let outcome = outcomes.remove(&share.instance_id);
            one(&mut tx, cx, run, share, outcome, &mut counts, now).await?;
        }
        tx.ensure_count(&run.id, counts).await?;
        wake(cx, &mut tx).await?;
        cx.commit_step(tx).await?;
    }
    Ok(())
}

/// Jobs that waited for the shares may go on, here and in other processes.
pub(super) async fn wake(cx: &JobContext, tx: &mut Tx) -> StoreResult<()> {
    tx.notify(CHANNEL, "").await?;
    let jobs = cx.queue().clone();
    tx.after_commit(move || jobs.wake());
    Ok(())
}

async fn one(
    tx: &mut Tx,
    cx: &JobContext,
    run: &EnsureRun,
    share: &ShareRow,
    outcome: Option<EnsureOutcome>,
    counts: &mut EnsureCounts,
    now: Micros,
) -> StoreResult<()> {
    match outcome {
        Some(EnsureOutcome::Unchanged) => counts.unchanged += 1,
        Some(EnsureOutcome::Updated(update)) => match &update.broken_because {
            None => {
                counts.updated += 1;
                updated(tx, cx, share, &update, now).await?;
            }
            Some(e) => {
                counts.broken += 1;
                updated(tx, cx, share, &update, now).await?;
                tx.share_status(&share.id, ENSURE_FROM, ShareStatus::Error, now).await?;
                say(tx, cx, run, share, "broken", ShareDetail::ShareIsBroken, e.user_text(), &e.to_string()).await?;
            }
        },
        Some(EnsureOutcome::Failed(e)) => {
            counts.failed += 1;
            say(tx, cx, run, share, "failed", ShareDetail::DriverFailedEnsure, e.user_text(), &e.to_string()).await?;
        }
        None => {
            counts.left_out += 1;
            say(tx, cx, run, share, "left_out", ShareDetail::LeftOutByDriver, "", "the driver left it out").await?;
        }
    }
    Ok(())
}

/// What the driver says anew.
async fn updated(tx: &mut Tx, cx: &JobContext, share: &ShareRow, update: &EnsuredUpdate, now: Micros) -> StoreResult<()> {
    let pool = share_moved::follow(tx, share, update.pool.as_deref()).await?;
    if update.provider_id.is_some() || update.provider_data.is_some() || pool.is_some() {
        tx.share_found(&share.id, update.provider_id.as_deref(), update.provider_data.as_deref(), pool.as_deref(), now).await?;
    }
    if let Some(locations) = &update.locations {
        tx.share_locations_replace(&share.instance_id, locations, now).await?;
    }
    for (instance, locations) in &update.snapshots {
        // deleted meanwhile: its locations went with it
        if tx.snapshot_instance_data(instance, None, now).await? {
            tx.snapshot_locations_replace(instance, locations, now).await?;
        }
    }
    if let Some(metadata) = &update.metadata {
        let pairs: Pairs = metadata.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        tx.metadata_put(MetadataOf::Share, &share.id, &pairs).await?;
    }
    if update.reapply_access_rules && update.broken_because.is_none() {
        tx.enqueue(&cx.app.jobs, access_anew::of_share(cx, share)).await?;
        for snapshot in tx.share_snapshots_with_rules(&share.id).await? {
            tx.enqueue(&cx.app.jobs, access_anew::of_snapshot(cx, share, &snapshot)).await?;
        }
    }
    Ok(())
}

/// To its owner, to operators, to whoever hears events.
#[expect(clippy::too_many_arguments, reason = "the same sentence for three readers")]
async fn say(
    tx: &mut Tx,
    cx: &JobContext,
    run: &EnsureRun,
    share: &ShareRow,
    state: &str,
    detail: ShareDetail,
    user_text: &str,
    reason: &str,
) -> StoreResult<()> {
    tell(tx, cx, share, ShareAction::Ensure, detail, user_text).await?;
    tx.ensure_report(&run.id, &share.id, state, Some(reason)).await?;
    event_now(tx, "share.ensure.error", &share.id, &cx.job.request_id).await
}
