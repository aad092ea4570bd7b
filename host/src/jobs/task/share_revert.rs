//! `share.revert`: the driver gives the share the content of its latest snapshot back.
//!
//! A repeat writes the same content again. A failure that repeats do not cure ends in `reverting_error`, as what the share
//! holds may be neither the old content nor the new. The snapshot is available again either way.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_access::told as driver_share_rule,
    share_snapshot_support::{driver_rule, driver_snapshot},
    share_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::{share::ShareStatus, share_access::AccessState, share_snapshot::ShareSnapshotStatus},
    driver::{DriverError, DriverResult, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy::event_now,
    store::sql::{share_access::AccessFilter, shares::ShareRow},
};

pub struct ShareRevert;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    snapshot_id: String,
    #[serde(default)]
    tried: Tried,
}

fn ask(cx: &JobContext) -> Result<Ask, TaskError> {
    let ask: Ask =
        serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
    Ok(Ask { tried: ask.tried.begin(cx.job.attempts), ..ask })
}

impl Task for ShareRevert {
    fn kind(&self) -> &'static str {
        "share.revert"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = ask(cx)?;
            let Some(share) = reverting(cx).await? else { return end(cx, None, &ask, ShareStatus::Available, None).await };
            let e = match revert(cx, &share, &ask).await? {
                Ok(()) => return end(cx, Some(&share), &ask, ShareStatus::Available, None).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not revert the share");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            let why = (ShareDetail::DriverFailedRevert, e.user_text());
            end(cx, Some(&share), &ask, ShareStatus::RevertingError, Some(why)).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = ask(cx)?;
            let share = reverting(cx).await?;
            let why = (ShareDetail::TookTooLong, "What the share holds is not known.");
            end(cx, share.as_ref(), &ask, ShareStatus::RevertingError, Some(why)).await
        })
    }
}

/// The share, unless somebody gave it another status meanwhile.
async fn reverting(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    Ok(cx.app.store.share(&cx.job.resource_id).await?.filter(|s| s.status == ShareStatus::Reverting.as_str()))
}

async fn revert(cx: &JobContext, share: &ShareRow, ask: &Ask) -> Result<DriverResult<()>, TaskError> {
    let store = &cx.app.store;
    let Some(snapshot) = store.share_snapshot(&ask.snapshot_id).await? else {
        return Ok(Err(DriverError::new(ErrorKind::NotFound, "the snapshot is gone")));
    };
    let holds = |state: Option<AccessState>| state == Some(AccessState::Active);
    let rules = store.share_rules(&share.id, &AccessFilter::default()).await?;
    let rules: Vec<_> =
        rules.iter().filter(|r| holds(r.state())).filter_map(|r| driver_share_rule(r, share.cast_rules_to_readonly)).collect();
    let snapshot_rules = store.snapshot_rules(&snapshot.id).await?;
    let snapshot_rules: Vec<_> = snapshot_rules.iter().filter(|r| holds(r.state())).filter_map(driver_rule).collect();
    let (told, snapshot) = (support::driver_share(cx, share).await?, driver_snapshot(cx, &snapshot).await?);
    let answer = async {
        let backend = cx.app.drivers.backend(share.backend().unwrap_or_default())?;
        backend.need_share_revert()?.revert(&call(cx, "revert"), &told, &snapshot, &rules, &snapshot_rules).await
    };
    Ok(answer.await)
}

/// Both get their end states. `share` is none when somebody gave it another status meanwhile.
async fn end(
    cx: &JobContext,
    share: Option<&ShareRow>,
    ask: &Ask,
    status: ShareStatus,
    why: Option<(ShareDetail, &str)>,
) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    let mut reverted = false;
    if let Some(share) = share
        && tx.share_status(&share.id, &[ShareStatus::Reverting], status, now).await?
    {
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, share, ShareAction::Revert, detail, text).await?;
        }
        reverted = why.is_none();
    }
    let told = if reverted { "share.revert.end" } else { "share.revert.error" };
    event_now(&mut tx, told, &cx.job.resource_id, &cx.job.request_id).await?;
    let restoring = &[ShareSnapshotStatus::Restoring];
    tx.share_snapshot_status(&ask.snapshot_id, restoring, ShareSnapshotStatus::Available, now).await?;
    settled(cx, tx).await
}
