//! One call for the shares of one part.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{Ask, Next, end, write};
use crate::{
    clock,
    driver::{
        DriverResult,
        backend::Backend,
        types::{EnsureItem, EnsureOutcome, ShareSnapshot},
    },
    jobs::{
        JobContext, Outcome, TaskError,
        task::{block_support::call, share_snapshot_support::driver_snapshots, share_support::driver_shares, tried::unless_fenced},
    },
    notify::share_message::ShareDetail,
    store::sql::{ensure::EnsureRun, shares::ShareRow},
};

/// Shares of one look at their snapshots.
const AT_ONCE: usize = 500;

pub(super) async fn ask(
    cx: &JobContext,
    ask: &mut Ask,
    run: &EnsureRun,
    backend: DriverResult<Arc<Backend>>,
    part: i64,
    shares: Vec<ShareRow>,
) -> Result<Outcome, TaskError> {
    if shares.is_empty() {
        forget_gone(cx, &run.id, part).await?;
        return Ok(ask.next());
    }
    let Some(items) = items(cx, run, &shares).await? else {
        split(cx, run, part, &shares).await?;
        return Ok(ask.next());
    };
    let answer = match backend {
        Ok(backend) => call_driver(cx, &backend, &items).await,
        Err(e) => Err(e),
    };
    let e = match answer {
        Ok(outcomes) => {
            write::write(cx, run, &shares, outcomes).await?;
            return Ok(ask.next());
        }
        Err(e) => e,
    };
    unless_fenced(&e)?;
    tracing::warn!(host = run.backend, shares = shares.len(), error = %e, "the driver did not say how shares stand");
    if e.kind.is_misbehaviour() && shares.len() > 1 {
        // one of them may be what it stumbles over
        split(cx, run, part, &shares).await?;
        return Ok(ask.next());
    }
    // one that traps alone is not asked for again: each trap brings the back end nearer to quarantine
    if !e.kind.is_misbehaviour() {
        match ask.failed_now(cx, &e) {
            Next::Again(after) => return Ok(ask.later(after, e.to_string())),
            // nor will it say how the others stand
            Next::Down => {
                return end::give_up(cx, &run.id, &format!("the back end is down: {e}"), Some(ShareDetail::DriverFailedEnsure)).await;
            }
            Next::Failed => {}
        }
    }
    let outcomes = shares.iter().map(|s| (s.instance_id.clone(), EnsureOutcome::Failed(e.clone()))).collect();
    write::write(cx, run, &shares, outcomes).await?;
    Ok(ask.next())
}

/// The second half of a part becomes one of its own.
async fn split(cx: &JobContext, run: &EnsureRun, part: i64, shares: &[ShareRow]) -> Result<(), TaskError> {
    let second: Vec<&str> = shares[shares.len() / 2..].iter().map(|s| s.id.as_str()).collect();
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_split(&run.id, part, &second).await?;
    cx.commit_step(tx).await
}

/// The shares with their snapshots, as far as these are whole: of others the driver may have nothing, or something else. None:
/// several shares have more snapshots together than a call holds shares.
async fn items(cx: &JobContext, run: &EnsureRun, shares: &[ShareRow]) -> Result<Option<Vec<EnsureItem>>, TaskError> {
    let mut rows = Vec::new();
    for some in shares.chunks(AT_ONCE) {
        rows.extend(cx.app.store.whole_snapshots_of(some.iter().map(|s| s.id.as_str())).await?);
        if shares.len() > 1 && i64::try_from(rows.len()).is_ok_and(|n| n > run.batch) {
            return Ok(None);
        }
    }
    let mut snapshots: HashMap<String, Vec<ShareSnapshot>> = HashMap::new();
    for (told, row) in driver_snapshots(cx, &rows).await?.into_iter().zip(&rows) {
        snapshots.entry(row.share_id.clone()).or_default().push(told);
    }
    let told = driver_shares(cx, shares).await?;
    let whole = shares.iter().map(|share| snapshots.remove(&share.id).unwrap_or_default());
    Ok(Some(told.into_iter().zip(whole).map(|(share, snapshots)| EnsureItem { share, snapshots }).collect()))
}

async fn call_driver(cx: &JobContext, backend: &Backend, items: &[EnsureItem]) -> DriverResult<BTreeMap<String, EnsureOutcome>> {
    let first = items.first().map_or("", |i| i.share.id.as_str());
    backend.need_ensure()?.ensure_shares(&call(cx, &format!("ensure:{first}:{}", items.len())), items).await
}

/// Shares that are held cannot go; should one have gone all the same, it holds up nothing.
pub(super) async fn forget_gone(cx: &JobContext, run_id: &str, part: i64) -> Result<(), TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_gone(run_id, part, clock::now()).await?;
    write::wake(cx, &mut tx).await?;
    cx.commit_step(tx).await
}
