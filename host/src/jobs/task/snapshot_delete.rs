//! `snapshot.delete`: the driver's delete, then the row goes.
//!
//! The driver answers success for what is gone, so a repeat after a crash ends well. Busy (something on the array depends on
//! it) gives a snapshot back that was available; any other failure that repeats do not cure ends in `error_deleting`, from where
//! its owner may delete again.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support as support,
    snapshot_support::{Tried, settled, tell, told, unless_fenced},
};
use crate::{
    clock,
    domain::snapshot::SnapshotStatus,
    driver::{DriverResult, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    quota::QuotaError,
    service::snapshot::destroy,
    store::sql::snapshots::SnapshotRow,
};

pub struct SnapshotDelete;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Its status before: one that was never whole does not become available.
    was: Option<String>,
    #[serde(flatten)]
    tried: Tried,
}

/// The event of a delete that did not delete.
const ERROR: &str = "snapshot.delete.error";

impl Task for SnapshotDelete {
    fn kind(&self) -> &'static str {
        "snapshot.delete"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = deleting(cx).await? else { return not_ours(cx).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            match delete(cx, &snapshot).await? {
                Ok(()) => remove(cx, &snapshot).await,
                Err(e) if e.kind == ErrorKind::NotFound => remove(cx, &snapshot).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not delete the snapshot");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    if e.kind == ErrorKind::Busy {
                        let why = e.user_message.as_deref().unwrap_or("");
                        let whole = ask.was.as_deref() == Some(SnapshotStatus::Available.as_str());
                        let status = if whole { SnapshotStatus::Available } else { SnapshotStatus::ErrorDeleting };
                        return end(cx, &snapshot, status, Detail::SnapshotIsBusy, why).await;
                    }
                    end(cx, &snapshot, SnapshotStatus::ErrorDeleting, Detail::SnapshotDeleteError, e.user_text()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = deleting(cx).await? else { return not_ours(cx).await };
            end(cx, &snapshot, SnapshotStatus::ErrorDeleting, Detail::TookTooLong, "Delete the snapshot again.").await
        })
    }
}

/// The snapshot is gone, or an operator gave it another status: then its delete has come to nothing.
async fn not_ours(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    destroy::event_now(&mut tx, ERROR, &cx.job.resource_id, &cx.job.request_id).await?;
    settled(cx, tx).await
}

/// The snapshot, if this job still has something to do.
async fn deleting(cx: &JobContext) -> Result<Option<SnapshotRow>, TaskError> {
    Ok(cx.app.store.snapshot(&cx.job.resource_id).await?.filter(|s| s.status == SnapshotStatus::Deleting.as_str()))
}

async fn delete(cx: &JobContext, snapshot: &SnapshotRow) -> Result<DriverResult<()>, TaskError> {
    let Some((told, volume, backend)) = told(cx, snapshot).await? else { return Ok(Ok(())) };
    let answer = async {
        let backend = cx.app.drivers.backend(&backend)?;
        backend.need_volume_snapshots()?.delete_snapshot(&support::call(cx, "delete"), &told, &volume).await
    };
    Ok(answer.await)
}

async fn remove(cx: &JobContext, snapshot: &SnapshotRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    destroy::remove(&mut tx, &snapshot.id, &cx.job.request_id).await.map_err(|e| match e {
        QuotaError::Store(e) => TaskError::from(e),
        other => TaskError::Other(other.to_string()),
    })?;
    settled(cx, tx).await
}

async fn end(cx: &JobContext, snapshot: &SnapshotRow, status: SnapshotStatus, detail: Detail, why: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.snapshot_status(&snapshot.id, &[SnapshotStatus::Deleting], status, clock::now()).await? {
        tell(&mut tx, cx, snapshot, Action::SnapshotDelete, detail, why).await?;
    }
    destroy::event_now(&mut tx, ERROR, &snapshot.id, &cx.job.request_id).await?;
    settled(cx, tx).await
}
