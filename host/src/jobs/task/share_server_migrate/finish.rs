//! The last step: the driver moves what has changed since and serves from the destination; then one transaction puts everything
//! where it is now. What is left on the source is removed by jobs of its own.
//!
//! The driver is asked again for as long as it may be cured: from its success on only the destination serves. Where it says that
//! it did not, or cannot be understood, everything is taken back.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use serde_json::json;

use super::{Ask, Failed, Pair, told_source, undo};
use crate::{
    clock::{self, Micros},
    domain::{
        share::ShareStatus,
        share_server::{ServerStatus, TaskState},
        share_snapshot::ShareSnapshotStatus,
    },
    driver::{
        DriverError, DriverResult, ErrorKind, answer,
        types::{Answer, MigrationSource, PollOutcome, ServerMoved},
    },
    jobs::{
        JobContext, Outcome, TaskError,
        task::{
            access_anew,
            block_support::call,
            share_server_abandon as abandon, share_server_support as support,
            tried::{settled, unless_fenced},
        },
    },
    service::share_server::migration::{stand_in, stand_in_of_snapshots},
    store::{
        Tx,
        sql::{server_migration::NewPlace, shares::ShareRow},
    },
};

pub async fn finish(cx: &JobContext, pair: &Pair, mut ask: Ask) -> Result<Outcome, TaskError> {
    let source = told_source(cx, &pair.source).await?;
    let e = match complete(cx, pair, &ask, &source).await? {
        Ok(Answer::Done(moved)) => match known_pools(cx, pair, &moved).await? {
            Ok(()) => return moved_there(cx, pair, &source, &moved).await,
            Err(e) => e,
        },
        Ok(Answer::Pending(pending)) => {
            ask.tried.failures = 0;
            ask.tried.uncertain = true;
            ask.token = Some(pending.token);
            return Ok(ask.again(pending.retry_after, "the back end moves what has changed since"));
        }
        Err(e) => e,
    };
    unless_fenced(&e)?;
    tracing::warn!(share_server_id = %pair.source.id, destination = %pair.target.id, backend = pair.target.backend, error = %e, "the driver did not complete the migration");
    if e.kind == ErrorKind::NotFound && ask.token.take().is_some() {
        // the array has forgotten the work's outcome: the verb itself finds it
        return Ok(ask.again(Duration::ZERO, e.to_string()));
    }
    if let Some(after) = ask.tried.again(&e) {
        return Ok(ask.again(after, e.to_string()));
    }
    // an array that does not answer may have moved everything: it is asked until it says so
    if let Some(after) = ask.waits(&e).filter(|_| ask.tried.uncertain) {
        return Ok(ask.again(after, e.to_string()));
    }
    let moved_perhaps = ask.tried.uncertain;
    undo::because(cx, pair, ask, Failed { why: e.to_string(), said: e.user_text().to_owned(), moved_perhaps }).await
}

async fn complete(
    cx: &JobContext,
    pair: &Pair,
    ask: &Ask,
    source: &MigrationSource,
) -> Result<DriverResult<Answer<ServerMoved>>, TaskError> {
    let target = pair.told_target(cx).await?;
    let answer = async {
        let backend = cx.app.drivers.backend(&pair.target.backend)?;
        let Some(token) = &ask.token else {
            return backend.need_share_server_migration()?.complete(&call(cx, "complete"), source, &target, &ask.work.request).await;
        };
        match backend.need_poll()?.poll(&call(cx, "poll-complete"), token).await? {
            PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
            PollOutcome::Moved(moved) => {
                answer::server_moved(&source.situation, &moved)?;
                Ok(Answer::Done(moved))
            }
            other => Err(DriverError::wrong_answer(format!("the work of a migration's end ended as {other:?}"))),
        }
    };
    Ok(answer.await)
}

/// Shares are in pools that the destination reports.
async fn known_pools(cx: &JobContext, pair: &Pair, moved: &ServerMoved) -> Result<DriverResult<()>, TaskError> {
    let pools: BTreeSet<String> = cx.app.store.pools_of(&pair.target.backend).await?.into_iter().map(|p| p.name).collect();
    let place = |pool: &str| format!("{}#{pool}", pair.target.backend);
    Ok(match moved.shares.iter().find(|s| !pools.contains(&place(&s.pool))) {
        Some(share) => {
            Err(DriverError::wrong_answer(format!("share {} is said to be in pool {:?}, which is not reported", share.id, share.pool)))
        }
        None => Ok(()),
    })
}

/// From here on everything is where the data is.
async fn moved_there(cx: &JobContext, pair: &Pair, source: &MigrationSource, moved: &ServerMoved) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let backend = cx.app.store.backend(&pair.target.backend).await?;
    let zone = backend.map(|b| b.availability_zone).unwrap_or_default();
    let mut tx = pair.held(cx, "completed").await?;
    let shares: HashMap<String, ShareRow> =
        tx.shares_on_server(&pair.source.id).await?.into_iter().map(|s| (s.instance_id.clone(), s)).collect();
    // held before anything counts elsewhere, in one order
    let mut ids: Vec<&str> = shares.values().map(|s| s.id.as_str()).collect();
    ids.sort_unstable();
    for id in ids {
        tx.share_locked(id).await?;
    }
    let content = (ShareStatus::ServerMigrating, ShareStatus::Available);
    let snapshots = (ShareSnapshotStatus::ServerMigrating, ShareSnapshotStatus::Available);
    tx.server_content_status(&pair.source.id, content, snapshots, now).await?;
    for snapshot in &moved.snapshots {
        tx.snapshot_instance_moved(snapshot, now).await?;
        tx.snapshot_locations_replace(&snapshot.id, &snapshot.locations, now).await?;
    }
    let to = NewPlace {
        server_id: &pair.target.id,
        network_id: &pair.target.share_network_id,
        backend: &pair.target.backend,
        availability_zone: &zone,
    };
    tx.hold_pools_of_backends([&pair.source.backend, &pair.target.backend]).await?;
    for share in &moved.shares {
        // it cannot go while its server moves
        let Some(row) = shares.get(&share.id) else { continue };
        tx.share_locations_replace(&share.id, &share.locations, now).await?;
        tx.share_moved(&row.id, &to, share, now).await?;
        tx.claim_of_stand_in(&row.id, &stand_in(&row.id)).await?;
        tx.settle_claim(&stand_in_of_snapshots(&row.id)).await?;
        let pool = format!("{}#{}", pair.target.backend, share.pool);
        if !tx.move_allocation(&row.id, &pool).await? {
            tracing::warn!(share_id = %row.id, pool, "a share has moved to a pool that has just gone; it counts where it was expected");
        }
        rules_anew(cx, &mut tx, &row.id).await?;
    }
    tx.share_server_settled(&pair.target.id, &support::details_text(&moved.details)?, support::identifier(&moved.details), now).await?;
    leave_source(cx, &mut tx, pair, source, now).await?;
    tracing::info!(share_server_id = %pair.source.id, destination = %pair.target.id, host = pair.target.backend, "a share server has moved");
    settled(cx, tx).await
}

/// The destination is told of every rule. Also of those of snapshots.
async fn rules_anew(cx: &JobContext, tx: &mut Tx, share_id: &str) -> Result<(), TaskError> {
    let Some(share) = tx.share(share_id).await? else { return Ok(()) };
    if !tx.share_rules(share_id).await?.is_empty() {
        tx.enqueue(&cx.app.jobs, access_anew::of_moved_share(cx, &share)).await?;
    }
    for snapshot in tx.share_snapshots_with_rules(share_id).await? {
        tx.enqueue(&cx.app.jobs, access_anew::of_moved_snapshot(cx, &share, &snapshot)).await?;
    }
    Ok(())
}

/// The source serves nothing any more; a job of its own back end removes what is left there.
async fn leave_source(cx: &JobContext, tx: &mut Tx, pair: &Pair, source: &MigrationSource, now: Micros) -> Result<(), TaskError> {
    tx.share_server_status(&pair.source.id, &[ServerStatus::ServerMigrating], ServerStatus::Inactive, now).await?;
    tx.share_server_task_told(&pair.source.id, Some(TaskState::Success), now).await?;
    let left = abandon::Left {
        server: source.situation.server.clone(),
        shares: source.situation.shares.clone(),
        snapshots: source.situation.snapshots.clone(),
    };
    tx.leaves_behind(&pair.source.id, Some(&json!(left).to_string())).await?;
    tx.enqueue(&cx.app.jobs, abandon::job(cx, &pair.source)).await?;
    Ok(())
}
