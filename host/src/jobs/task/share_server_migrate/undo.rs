//! The end of a migration that is cancelled or came to nothing: the driver takes back what it began, the destination is torn
//! down and gone with its addresses and its room, and everything on the source is what it was.
//!
//! What the driver cannot take back goes with the destination's tear-down, which a clean-up job tries for days. After a last step
//! that may have happened that would lose what has moved: then both servers, with all shares, are in error.

use std::time::Duration;

use serde_json::json;

use super::{Ask, Failed, Pair, told_source};
use crate::{
    clock,
    domain::{
        share::ShareStatus,
        share_server::{ServerStatus, TaskState},
        share_snapshot::ShareSnapshotStatus,
    },
    driver::{DriverResult, ErrorKind},
    error::Kind,
    jobs::{
        JobContext, JobFault, Outcome, TaskError,
        task::{
            block_support::undo_call,
            cleanup, share_server_support as support,
            tried::{settled, unless_fenced},
        },
    },
    notify::share_message::{ShareAction, ShareDetail},
    service::share_server::migration::{stand_in, stand_in_of_snapshots},
    store::Tx,
};

/// It is given up for this reason, which is written before anything is taken back: whatever becomes of this run, the next one goes
/// on with that. Who has decided otherwise meanwhile comes first.
pub async fn because(cx: &JobContext, pair: &Pair, ask: Ask, failed: Failed) -> Result<Outcome, TaskError> {
    let mut given_up = Ask { failed: Some(failed), ..ask.clone() };
    given_up.next_step();
    let mut tx = cx.app.store.begin().await?;
    if !tx.share_server_task(&pair.source.id, &[pair.task], TaskState::CancelInProgress, clock::now()).await? {
        tx.rollback().await?;
        return Ok(ask.again(Duration::ZERO, "somebody decided otherwise"));
    }
    cx.commit_noted(tx, &json!(given_up), "it is given up").await?;
    Ok(given_up.again(Duration::ZERO, "it is given up"))
}

/// Undoes it, and asks again where that may help.
pub async fn undo(cx: &JobContext, pair: &Pair, mut ask: Ask) -> Result<Outcome, TaskError> {
    let taken_back = take_back(cx, pair, &ask).await?;
    if let Err(e) = &taken_back {
        unless_fenced(e)?;
        // where the data may have moved an array that is away is waited for
        let after = ask.tried.again(e).or_else(|| ask.waits(e).filter(|_| moved_perhaps(&ask)));
        if let Some(after) = after {
            return Ok(ask.again(after, format!("the back end takes back what it began: {e}")));
        }
    }
    end(cx, pair, &ask, taken_back.is_ok()).await
}

fn moved_perhaps(ask: &Ask) -> bool {
    ask.failed.as_ref().is_some_and(|f| f.moved_perhaps)
}

/// As [`undo`], without another time.
pub async fn at_last(cx: &JobContext, pair: &Pair, ask: Ask) -> Result<Outcome, TaskError> {
    let taken_back = take_back(cx, pair, &ask).await?;
    if let Err(e) = &taken_back {
        unless_fenced(e)?;
    }
    end(cx, pair, &ask, taken_back.is_ok()).await
}

/// The driver's cancel, if it was ever asked to begin.
async fn take_back(cx: &JobContext, pair: &Pair, ask: &Ask) -> Result<DriverResult<()>, TaskError> {
    if !ask.asked {
        return Ok(Ok(()));
    }
    let source = told_source(cx, &pair.source).await?;
    let server = support::driver_server(&pair.target)?;
    let answer = async {
        let backend = cx.app.drivers.backend(&pair.target.backend)?;
        backend.need_share_server_migration()?.cancel(&undo_call(cx, "cancel"), &source, &server).await
    };
    Ok(match answer.await {
        // after a last step that may have happened it says that the migration is over: nobody knows which way
        Err(e) if e.kind == ErrorKind::NotFound && !moved_perhaps(ask) => Ok(()),
        Err(e) => {
            tracing::warn!(share_server_id = %pair.source.id, destination = %pair.target.id, backend = pair.target.backend, error = %e, "the driver did not take a migration back");
            Err(e)
        }
        Ok(()) => Ok(()),
    })
}

async fn end(cx: &JobContext, pair: &Pair, ask: &Ask, taken_back: bool) -> Result<Outcome, TaskError> {
    if !taken_back && moved_perhaps(ask) {
        return lost(cx, pair, ask).await;
    }
    let gone = tear_down(cx, pair, ask).await?;
    let now = clock::now();
    let told = support::driver_server(&pair.target)?;
    let mut tx = pair.held(cx, "undone").await?;
    let snapshots = (ShareSnapshotStatus::ServerMigrating, ShareSnapshotStatus::Available);
    tx.server_content_status(&pair.source.id, (ShareStatus::ServerMigrating, ShareStatus::Available), snapshots, now).await?;
    give_room_back(&mut tx, pair, ask).await?;
    tx.share_server_status(&pair.source.id, &[ServerStatus::ServerMigrating], ServerStatus::Active, now).await?;
    let task = if ask.failed.is_some() { TaskState::Error } else { TaskState::Cancelled };
    tx.share_server_task_told(&pair.source.id, Some(task), now).await?;
    if support::forget(cx, &mut tx, &pair.target, ServerStatus::ServerMigratingTo).await? && !gone {
        cleanup::leave(&mut tx, cx, &pair.target.backend, &told).await?;
    }
    match &ask.failed {
        None => settled(cx, tx).await,
        Some(failed) => fail(cx, tx, pair, failed, ShareDetail::ServerMigrationFailed).await,
    }
}

/// False: the array may hold something of the destination.
async fn tear_down(cx: &JobContext, pair: &Pair, ask: &Ask) -> Result<bool, TaskError> {
    if !ask.build.begun {
        return Ok(true);
    }
    let told = support::driver_server(&pair.target)?;
    let details = Some(&told.details).filter(|_| pair.target.details.is_some());
    match support::take_down(cx, &pair.target.backend, &pair.target.id, details, &undo_call(cx, "undo")).await {
        Ok(()) => Ok(true),
        Err(e) => {
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %pair.source.id, destination = %pair.target.id, backend = pair.target.backend, error = %e, "the destination of a migration was not taken down yet");
            Ok(false)
        }
    }
}

/// Where nothing was copied it is free at once; else as the back end's next report says.
async fn give_room_back(tx: &mut Tx, pair: &Pair, ask: &Ask) -> Result<(), TaskError> {
    let shares = tx.shares_on_server(&pair.source.id).await?;
    tx.hold_pools_of_backends([&pair.source.backend, &pair.target.backend]).await?;
    let untouched = !ask.asked && !ask.build.begun;
    for share in shares {
        for held in [stand_in(&share.id), stand_in_of_snapshots(&share.id)] {
            if untouched {
                tx.release_claim(&held).await?;
            } else {
                tx.forget_claim(&held).await?;
            }
        }
    }
    Ok(())
}

/// Nobody but the array knows where the data is.
async fn lost(cx: &JobContext, pair: &Pair, ask: &Ask) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = pair.held(cx, "given up").await?;
    let snapshots = (ShareSnapshotStatus::ServerMigrating, ShareSnapshotStatus::Error);
    tx.server_content_status(&pair.source.id, (ShareStatus::ServerMigrating, ShareStatus::Error), snapshots, now).await?;
    give_room_back(&mut tx, pair, ask).await?;
    // it may hold all there is, though no share is on it: it does not go with its network
    tx.share_server_stays(&pair.target.id).await?;
    for (server, from) in [(&pair.source, ServerStatus::ServerMigrating), (&pair.target, ServerStatus::ServerMigratingTo)] {
        tx.share_server_status(&server.id, &[from], ServerStatus::Error, now).await?;
        tx.share_server_task_told(&server.id, Some(TaskState::Error), now).await?;
    }
    let failed = ask.failed.clone().unwrap_or_default();
    tracing::error!(share_server_id = %pair.source.id, destination = %pair.target.id, why = failed.why, "the last step of a migration failed and could not be taken back");
    fail(cx, tx, pair, &failed, ShareDetail::ServerMigrationLost).await
}

async fn fail(cx: &JobContext, mut tx: Tx, pair: &Pair, failed: &Failed, detail: ShareDetail) -> Result<Outcome, TaskError> {
    support::tell(&mut tx, cx, &pair.source, ShareAction::MigrateServer, detail, &failed.said).await?;
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: failed.why.clone() })).await?;
    Ok(Outcome::Settled)
}
