//! `share_snapshot.delete`: the driver's delete, then the row goes; its rules and locations with it.
//!
//! The driver answers success for what is gone, so a repeat after a crash ends well. Busy gives a snapshot back that was
//! available; any other failure that repeats do not cure ends in `error_deleting`, from where an operator deletes it by force.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_snapshot_support::{tell, told},
    share_support::given_back,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_snapshot::ShareSnapshotStatus,
    driver::{DriverResult, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share_snapshot::destroy,
    store::sql::share_snapshots::ShareSnapshotRow,
};

pub struct ShareSnapshotDelete;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Its status before: one that was never whole does not become available.
    was: Option<String>,
    tried: Tried,
}

const DELETING: &[ShareSnapshotStatus] = &[ShareSnapshotStatus::Deleting];

impl Task for ShareSnapshotDelete {
    fn kind(&self) -> &'static str {
        "share_snapshot.delete"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = deleting(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let e = match delete(cx, &snapshot).await? {
                Ok(()) => return remove(cx, &snapshot).await,
                Err(e) if e.kind == ErrorKind::NotFound => return remove(cx, &snapshot).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not delete the share's snapshot");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            let whole = ask.was.as_deref() == Some(ShareSnapshotStatus::Available.as_str());
            let status =
                if e.kind == ErrorKind::Busy && whole { ShareSnapshotStatus::Available } else { ShareSnapshotStatus::ErrorDeleting };
            end(cx, &snapshot, status, ShareDetail::SnapshotDeleteFailed, e.user_text()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = deleting(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            end(cx, &snapshot, ShareSnapshotStatus::ErrorDeleting, ShareDetail::TookTooLong, "").await
        })
    }
}

/// The snapshot, if this job still has something to do.
async fn deleting(cx: &JobContext) -> Result<Option<ShareSnapshotRow>, TaskError> {
    let snapshot = cx.app.store.share_snapshot(&cx.job.resource_id).await?;
    Ok(snapshot.filter(|s| s.status == ShareSnapshotStatus::Deleting.as_str()))
}

async fn delete(cx: &JobContext, snapshot: &ShareSnapshotRow) -> Result<DriverResult<()>, TaskError> {
    let Some(told) = told(cx, snapshot).await? else { return Ok(Ok(())) };
    let answer = async {
        let backend = cx.app.drivers.backend(&told.backend)?;
        backend.need_share_snapshots()?.delete_snapshot(&call(cx, "delete"), &told.snapshot, &told.share).await
    };
    Ok(answer.await)
}

async fn remove(cx: &JobContext, snapshot: &ShareSnapshotRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    destroy::remove(&mut tx, &snapshot.id, &cx.job.request_id).await.map_err(given_back)?;
    settled(cx, tx).await
}

async fn end(
    cx: &JobContext,
    snapshot: &ShareSnapshotRow,
    status: ShareSnapshotStatus,
    detail: ShareDetail,
    why: &str,
) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_snapshot_status(&snapshot.id, DELETING, status, clock::now()).await? {
        tell(&mut tx, cx, snapshot, ShareAction::DeleteSnapshot, detail, why).await?;
    }
    destroy::event_now(&mut tx, "share_snapshot.delete.error", &snapshot.id, &cx.job.request_id).await?;
    settled(cx, tx).await
}
