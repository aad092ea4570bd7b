//! `share.create`: choose a pool, have the driver make the share there, write what it said.
//!
//! Steps, each of which a later run finds done: (1) the pool, in one transaction with the room it takes and the instance's
//! `host`; (2) on a share network, the share server; (3) the driver's create, keyed by the instance's id; (4) the result. A
//! failure that may have done something is first repeated on the same back end, and stays in mind whatever the repeats
//! answer; a pool that is given up is written into the payload before another is chosen, and if something may be left there,
//! the transaction that chooses the next one leaves a clean-up job. After `scheduler.max_attempts` pools, or when none is left, the share ends in
//! `error`, without a host, with a message.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;

use super::{
    block_support::call,
    cleanup,
    share_place::{self, Placing, Progress},
    share_server_provide::{Provided, provide},
    share_snapshot_support::told as snapshot_told,
    share_support as support,
    tried::{settled, unless_fenced},
};
use crate::{
    clock,
    domain::share::{CREATING, is_one_of},
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{self, Answer, PollOutcome, ShareUpdate},
    },
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    scheduler::Limit,
    service::share::{destroy::event, room},
    store::{
        Tx,
        sql::{metadata::MetadataOf, shares::ShareRow},
    },
};

/// How often a create looks for back ends that have not reported yet.
const FIRST_REPORTS_POLL: Duration = Duration::from_millis(500);

pub struct ShareCreate;

impl Task for ShareCreate {
    fn kind(&self) -> &'static str {
        "share.create"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut progress: Progress = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            progress.tried = progress.tried.begin(cx.job.attempts);
            // deleted by force meanwhile: that job comes next and cleans up; or an operator said that it is something else
            let Some(share) = creating(cx).await? else { return dropped(cx).await };
            let share = if progress.goes_on_with(&share) {
                share
            } else {
                match share_place::place(cx, &share, &mut progress).await? {
                    Placing::Placed(placed) => *placed,
                    Placing::Gone => return Ok(Outcome::Settled),
                    Placing::Wait(reason) => return Ok(again(&progress, FIRST_REPORTS_POLL, reason)),
                    Placing::Nowhere { tx, none, leftover } => {
                        let (action, detail, why) = match &none {
                            Some(none) => (ShareAction::AllocateHost, room::detail(none), none.limit.user_text()),
                            None => (ShareAction::Create, refused(&share), progress.last.as_deref().unwrap_or_default()),
                        };
                        // else the detail's own text says it to users
                        let named = none.as_ref().is_none_or(|none| none.limit == Limit::SeveralSubnets);
                        let extra = if named { why } else { "" };
                        return fail(cx, tx, &share, leftover, (action, detail, extra), why).await;
                    }
                }
            };
            let backend = share.backend().unwrap_or_default().to_owned();
            if let Some(later) = cx.change_lane(&backend, &json!(progress)).await {
                return Ok(later);
            }
            let share = match provide(cx, share.clone(), &backend).await? {
                Provided::Ready(share) => *share,
                Provided::Wait(after, reason) => return Ok(again(&progress, after, reason)),
                Provided::Nowhere(detail, text) => return no_server(cx, &share, &backend, &progress, detail, &text).await,
                Provided::Failed(e) => {
                    let told = support::driver_share(cx, &share).await?;
                    return conclude(cx, &share, &backend, &told, progress, Err(e)).await;
                }
                Provided::Gone => return dropped(cx).await,
            };
            let told = support::driver_share(cx, &share).await?;
            let answer = ask_driver(cx, &share, &backend, &told, progress.token.as_deref()).await?;
            conclude(cx, &share, &backend, &told, progress, answer).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = creating(cx).await? else { return dropped(cx).await };
            // read before the transaction begins, as when it is placed
            let leftover = match share.backend() {
                Some(backend) => Some((backend, support::driver_share(cx, &share).await?)),
                None => None,
            };
            let mut tx = cx.app.store.begin().await?;
            if let Some((backend, told)) = &leftover {
                cleanup::leave(&mut tx, cx, backend, told).await?;
            }
            let action = if share.host.is_some() { ShareAction::Create } else { ShareAction::AllocateHost };
            let why = "The storage back end did not finish in time.";
            fail(cx, tx, &share, true, (action, ShareDetail::TookTooLong, why), why).await
        })
    }
}

async fn creating(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    Ok(cx.app.store.share(&cx.job.resource_id).await?.filter(|s| is_one_of(&s.status, CREATING)))
}

/// The create itself, or the question after a create that goes on in the array.
async fn ask_driver(
    cx: &JobContext,
    share: &ShareRow,
    backend: &str,
    told: &types::Share,
    token: Option<&str>,
) -> Result<DriverResult<Answer<ShareUpdate>>, TaskError> {
    Ok(match (token, share.snapshot_id.as_deref()) {
        (Some(token), _) => poll(cx, backend, token).await,
        (None, Some(snapshot)) => create_from(cx, snapshot, backend, told).await?,
        (None, None) => {
            let answer = async { cx.app.drivers.backend(backend)?.need_shares()?.create(&call(cx, "create"), told).await };
            answer.await
        }
    })
}

async fn poll(cx: &JobContext, backend: &str, token: &str) -> DriverResult<Answer<ShareUpdate>> {
    let backend = cx.app.drivers.backend(backend)?;
    match backend.need_poll()?.poll(&call(cx, "poll"), token).await? {
        PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
        PollOutcome::Share(update) => Ok(Answer::Done(update)),
        other => Err(DriverError::wrong_answer(format!("the work of a share's create ended as {other:?}"))),
    }
}

/// A share with the content of a snapshot, which stays as long as this job is not done.
async fn create_from(
    cx: &JobContext,
    snapshot_id: &str,
    backend: &str,
    told: &types::Share,
) -> Result<DriverResult<Answer<ShareUpdate>>, TaskError> {
    let gone = || Ok(Err(DriverError::new(ErrorKind::NotFound, "the snapshot is gone")));
    let Some(snapshot) = cx.app.store.share_snapshot(snapshot_id).await? else { return gone() };
    let Some(source) = snapshot_told(cx, &snapshot).await? else { return gone() };
    let answer = async {
        let backend = cx.app.drivers.backend(backend)?;
        let from = backend.need_share_from_snapshot()?;
        from.create_from_snapshot(&call(cx, "create"), told, &source.snapshot, &source.share).await
    };
    Ok(answer.await)
}

/// What the user is told that the driver failed to do.
fn refused(share: &ShareRow) -> ShareDetail {
    if share.snapshot_id.is_some() { ShareDetail::DriverFailedCreateFromSnapshot } else { ShareDetail::DriverFailedCreate }
}

/// What the driver's answer means.
async fn conclude(
    cx: &JobContext,
    share: &ShareRow,
    backend: &str,
    told: &types::Share,
    mut progress: Progress,
    answer: DriverResult<Answer<ShareUpdate>>,
) -> Result<Outcome, TaskError> {
    let e = match answer {
        Ok(Answer::Done(update)) => return succeed(cx, share, update).await,
        Ok(Answer::Pending(pending)) => {
            progress.tried.failures = 0;
            progress.tried.uncertain = true;
            progress.token = Some(pending.token);
            let percent = pending.percent.map_or_else(String::new, |p| format!(", {p} %"));
            return Ok(again(&progress, pending.retry_after, format!("the back end works on it{percent}")));
        }
        Err(e) => e,
    };
    unless_fenced(&e)?;
    tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not create the share");
    if e.kind == ErrorKind::NotFound && progress.token.take().is_some() {
        // the array has forgotten the work's outcome: the verb itself finds it
        return Ok(again(&progress, Duration::ZERO, e.to_string()));
    }
    if let Some(after) = progress.failed(&e) {
        return Ok(again(&progress, after, e.to_string()));
    }
    if e.worth_moving_on() {
        progress.give_up(cx, share).await?;
        // looking for another pool must not wait for room on the one that failed
        cx.leave_lane();
        return Ok(again(&progress, Duration::ZERO, e.to_string()));
    }
    // no other pool can do better
    let leftover = progress.tried.uncertain;
    let mut tx = cx.app.store.begin().await?;
    if leftover {
        cleanup::leave(&mut tx, cx, backend, told).await?;
    }
    fail(cx, tx, share, leftover, (ShareAction::Create, refused(share), e.user_text()), e.user_text()).await
}

/// The share's network has no server for it: no other pool would have one sooner.
async fn no_server(
    cx: &JobContext,
    share: &ShareRow,
    backend: &str,
    progress: &Progress,
    detail: ShareDetail,
    text: &str,
) -> Result<Outcome, TaskError> {
    let leftover = match progress.tried.uncertain {
        true => Some(support::driver_share(cx, share).await?),
        false => None,
    };
    let mut tx = cx.app.store.begin().await?;
    if let Some(told) = &leftover {
        cleanup::leave(&mut tx, cx, backend, told).await?;
    }
    let action = if detail == ShareDetail::NoValidHost { ShareAction::AllocateHost } else { ShareAction::Create };
    fail(cx, tx, share, leftover.is_some(), (action, detail, text), detail.text()).await
}

async fn succeed(cx: &JobContext, share: &ShareRow, update: ShareUpdate) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    // false: it is being deleted by force; the delete finds the object by our id
    if tx.share_created(&share.id, update.provider_id.as_deref(), update.provider_data.as_deref(), now).await? {
        tx.share_locations_replace(&share.instance_id, &update.locations, now).await?;
        let pairs: Vec<(String, String)> = update.metadata.into_iter().collect();
        tx.metadata_put(MetadataOf::Share, &share.id, &pairs).await?;
        if let Some(row) = tx.share(&share.id).await? {
            event(&mut tx, "share.create.end", &row, &cx.job.request_id).await?;
        }
    }
    tx.settle_creation(&share.id).await?;
    settled(cx, tx).await
}

/// creating -> error without a host; `leftover` says whether a clean-up job was left for the pool given up last.
async fn fail(
    cx: &JobContext,
    mut tx: Tx,
    share: &ShareRow,
    leftover: bool,
    (action, detail, extra): (ShareAction, ShareDetail, &str),
    why: &str,
) -> Result<Outcome, TaskError> {
    if !tx.share_create_failed(&share.id, clock::now()).await? {
        // an operator said meanwhile that it is something else: then it lies where it was placed
        tx.settle_creation(&share.id).await?;
    } else {
        if leftover {
            tx.forget_claim(&share.id).await?;
        } else {
            tx.release_claim(&share.id).await?;
        }
        support::tell(&mut tx, cx, share, action, detail, extra).await?;
        event(&mut tx, "share.create.error", share, &cx.job.request_id).await?;
    }
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}

/// Nothing to do any more; what was made may be there, and its room shows in a later report.
async fn dropped(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.settle_creation(&cx.job.resource_id).await?;
    settled(cx, tx).await
}

fn again(progress: &Progress, after: Duration, reason: String) -> Outcome {
    Outcome::Again { after, payload: json!(progress), reason }
}
