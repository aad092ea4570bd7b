//! One call for the shares of one part.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{Ask, write};
use crate::{
    clock,
    driver::{
        DriverResult,
        backend::Backend,
        types::{EnsureItem, EnsureOutcome, ShareSnapshot},
    },
    jobs::{
        JobContext, Outcome, TaskError,
        task::{block_support::call, share_snapshot_support::driver_snapshot, share_support::driver_shares, tried::unless_fenced},
    },
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
    let items = items(cx, &shares).await?;
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
        let second: Vec<&str> = shares[shares.len() / 2..].iter().map(|s| s.id.as_str()).collect();
        let mut tx = cx.app.store.begin().await?;
        tx.ensure_split(&run.id, part, &second).await?;
        cx.commit_step(tx).await?;
        return Ok(ask.next());
    }
    // one that traps alone is not asked for again: each trap brings the back end nearer to quarantine
    if !e.kind.is_misbehaviour()
        && let Some(after) = ask.again(&e)
    {
        return Ok(ask.later(after, e.to_string()));
    }
    let outcomes = shares.iter().map(|s| (s.instance_id.clone(), EnsureOutcome::Failed(e.clone()))).collect();
    write::write(cx, run, &shares, outcomes).await?;
    Ok(ask.next())
}

/// The shares with their snapshots, as far as these are whole: of others the driver may have nothing, or something else.
async fn items(cx: &JobContext, shares: &[ShareRow]) -> Result<Vec<EnsureItem>, TaskError> {
    let mut snapshots: HashMap<String, Vec<ShareSnapshot>> = HashMap::new();
    for some in shares.chunks(AT_ONCE) {
        for row in cx.app.store.whole_snapshots_of(some.iter().map(|s| s.id.as_str())).await? {
            snapshots.entry(row.share_id.clone()).or_default().push(driver_snapshot(cx, &row).await?);
        }
    }
    let told = driver_shares(cx, shares).await?;
    let whole = shares.iter().map(|share| snapshots.remove(&share.id).unwrap_or_default());
    Ok(told.into_iter().zip(whole).map(|(share, snapshots)| EnsureItem { share, snapshots }).collect())
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
