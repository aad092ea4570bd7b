//! `share_snapshot.create`: the driver takes the snapshot, which becomes available, or ends in error with a message.
//!
//! A repeat finds the snapshot as it was first taken, by its instance's id. When it is certain that nothing was made, the
//! row says so (it is deleted without the back end) and its room is free at once; otherwise its delete asks the driver.

use futures::future::BoxFuture;
use serde_json::json;

use super::{
    block_support::call,
    share_snapshot_support::{tell, told},
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_snapshot::ShareSnapshotStatus,
    driver::{DriverResult, types::ShareSnapshotUpdate},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share_snapshot::destroy::event_now,
    store::sql::share_snapshots::ShareSnapshotRow,
};

pub struct ShareSnapshotCreate;

impl Task for ShareSnapshotCreate {
    fn kind(&self) -> &'static str {
        "share_snapshot.create"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = cx.app.store.share_snapshot(&cx.job.resource_id).await? else { return dropped(cx).await };
            if snapshot.status == ShareSnapshotStatus::Deleting.as_str() {
                // deleted by force meanwhile: that job comes next and cleans up
                return dropped(cx).await;
            }
            let mut tried = serde_json::from_value::<Tried>(cx.job.payload.clone()).unwrap_or_default().begin(cx.job.attempts);
            let e = match create(cx, &snapshot).await? {
                Ok(update) => return made(cx, &snapshot, update).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not take the share's snapshot");
            if let Some(after) = tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(tried), reason: e.to_string() });
            }
            failed(cx, &snapshot, tried.uncertain, ShareDetail::SnapshotFailed, e.user_text()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = cx.app.store.share_snapshot(&cx.job.resource_id).await? else { return dropped(cx).await };
            failed(cx, &snapshot, true, ShareDetail::TookTooLong, "Delete the snapshot, and take another.").await
        })
    }
}

async fn create(cx: &JobContext, snapshot: &ShareSnapshotRow) -> Result<DriverResult<ShareSnapshotUpdate>, TaskError> {
    let Some(told) = told(cx, snapshot).await? else { return Err(TaskError::Other("the snapshot's share is gone".to_owned())) };
    let answer = async {
        let backend = cx.app.drivers.backend(&told.backend)?;
        backend.need_share_snapshots()?.create_snapshot(&call(cx, "create"), &told.snapshot, &told.share).await
    };
    Ok(answer.await)
}

async fn made(cx: &JobContext, snapshot: &ShareSnapshotRow, update: ShareSnapshotUpdate) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    if tx.share_snapshot_made(&snapshot.id, update.provider_id.as_deref(), update.provider_data.as_deref(), now).await? {
        tx.snapshot_locations_replace(&snapshot.instance_id, &update.locations, now).await?;
        event_now(&mut tx, "share_snapshot.create.end", &snapshot.id, &cx.job.request_id).await?;
    }
    tx.settle_claim(&snapshot.id).await?;
    settled(cx, tx).await
}

/// creating -> error.
async fn failed(
    cx: &JobContext,
    snapshot: &ShareSnapshotRow,
    uncertain: bool,
    detail: ShareDetail,
    why: &str,
) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_snapshot_failed(&snapshot.id, uncertain, clock::now()).await? {
        tell(&mut tx, cx, snapshot, ShareAction::CreateSnapshot, detail, why).await?;
    }
    event_now(&mut tx, "share_snapshot.create.error", &snapshot.id, &cx.job.request_id).await?;
    if uncertain {
        tx.settle_claim(&snapshot.id).await?;
    } else {
        tx.release_claim(&snapshot.id).await?;
    }
    settled(cx, tx).await
}

/// Nothing to do any more; the room comes back with a later report.
async fn dropped(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.settle_claim(&cx.job.resource_id).await?;
    settled(cx, tx).await
}
