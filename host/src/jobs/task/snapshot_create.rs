//! `snapshot.create`: the driver takes the snapshot, which becomes available, or ends in error with a message.
//!
//! A repeat finds the snapshot as it was first taken, by our id. When it is certain that nothing was made, the row says so
//! (it is deleted without the back end) and its room is free at once; otherwise its delete asks the driver, by our id.

use futures::future::BoxFuture;
use serde_json::json;

use super::{
    block_support as support,
    snapshot_support::{Tried, settled, tell, told, unless_fenced},
};
use crate::{
    clock,
    domain::snapshot::SnapshotStatus,
    driver::{DriverResult, types::SnapshotUpdate},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    service::snapshot::destroy::event_now,
    store::sql::snapshots::SnapshotRow,
};

pub struct SnapshotCreate;

impl Task for SnapshotCreate {
    fn kind(&self) -> &'static str {
        "snapshot.create"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = cx.app.store.snapshot(&cx.job.resource_id).await? else { return dropped(cx).await };
            if snapshot.status == SnapshotStatus::Deleting.as_str() {
                // deleted by force meanwhile: that job comes next and cleans up
                return dropped(cx).await;
            }
            let mut tried = serde_json::from_value::<Tried>(cx.job.payload.clone()).unwrap_or_default().begin(cx.job.attempts);
            match create(cx, &snapshot).await? {
                Ok(update) => made(cx, &snapshot, update).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not take the snapshot");
                    if let Some(after) = tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(tried), reason: e.to_string() });
                    }
                    failed(cx, &snapshot, tried.uncertain, Detail::SnapshotCreateError, e.user_text()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = cx.app.store.snapshot(&cx.job.resource_id).await? else { return dropped(cx).await };
            failed(cx, &snapshot, true, Detail::TookTooLong, "Delete the snapshot, and take another.").await
        })
    }
}

async fn create(cx: &JobContext, snapshot: &SnapshotRow) -> Result<DriverResult<SnapshotUpdate>, TaskError> {
    let Some((told, volume, backend)) = told(cx, snapshot).await? else {
        return Err(TaskError::Other("the snapshot's volume is gone".to_owned()));
    };
    let answer = async {
        let backend = cx.app.drivers.backend(&backend)?;
        backend.need_volume_snapshots()?.create_snapshot(&support::call(cx, "create"), &told, &volume).await
    };
    Ok(answer.await)
}

async fn made(cx: &JobContext, snapshot: &SnapshotRow, update: SnapshotUpdate) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.snapshot_made(&snapshot.id, update.provider_id.as_deref(), update.provider_data.as_deref(), clock::now()).await? {
        event_now(&mut tx, "snapshot.create.end", &snapshot.id, &cx.job.request_id).await?;
    }
    tx.settle_claim(&snapshot.id).await?;
    settled(cx, tx).await
}

/// creating -> error.
async fn failed(cx: &JobContext, snapshot: &SnapshotRow, uncertain: bool, detail: Detail, why: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.snapshot_failed(&snapshot.id, uncertain, clock::now()).await? {
        tell(&mut tx, cx, snapshot, Action::SnapshotCreate, detail, why).await?;
    }
    event_now(&mut tx, "snapshot.create.error", &snapshot.id, &cx.job.request_id).await?;
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
    event_now(&mut tx, "snapshot.create.error", &cx.job.resource_id, &cx.job.request_id).await?;
    settled(cx, tx).await
}
