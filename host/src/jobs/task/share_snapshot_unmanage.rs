//! `share_snapshot.unmanage`: the driver forgets the snapshot and leaves its data alone; then the rows go.
//!
//! The driver answers success for what it does not know, so a repeat after a crash ends well. One that takes no snapshots over
//! has nothing to forget. Any failure that repeats do not cure ends in `unmanage_error`, from where it is tried again.

use futures::future::BoxFuture;
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

pub struct ShareSnapshotUnmanage;

const UNMANAGING: &[ShareSnapshotStatus] = &[ShareSnapshotStatus::Unmanaging];

impl Task for ShareSnapshotUnmanage {
    fn kind(&self) -> &'static str {
        "share_snapshot.unmanage"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = unmanaging(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tried = serde_json::from_value::<Tried>(cx.job.payload.clone()).unwrap_or_default().begin(cx.job.attempts);
            let e = match release(cx, &snapshot).await? {
                Ok(()) => return remove(cx, &snapshot).await,
                Err(e) if matches!(e.kind, ErrorKind::NotFound | ErrorKind::NotImplemented) => return remove(cx, &snapshot).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not let go of the share's snapshot");
            if let Some(after) = tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(tried), reason: e.to_string() });
            }
            failed(cx, &snapshot, ShareDetail::DriverFailedUnmanageSnapshot, e.user_text()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = unmanaging(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            failed(cx, &snapshot, ShareDetail::TookTooLong, "").await
        })
    }
}

async fn unmanaging(cx: &JobContext) -> Result<Option<ShareSnapshotRow>, TaskError> {
    let snapshot = cx.app.store.share_snapshot(&cx.job.resource_id).await?;
    Ok(snapshot.filter(|s| s.status == ShareSnapshotStatus::Unmanaging.as_str()))
}

async fn release(cx: &JobContext, snapshot: &ShareSnapshotRow) -> Result<DriverResult<()>, TaskError> {
    let Some(told) = told(cx, snapshot).await? else { return Ok(Ok(())) };
    let answer = async {
        let backend = cx.app.drivers.backend(&told.backend)?;
        backend.need_share_snapshot_manage()?.release(&call(cx, "release"), &told.snapshot, &told.share).await
    };
    Ok(answer.await)
}

async fn remove(cx: &JobContext, snapshot: &ShareSnapshotRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    destroy::forget(&mut tx, &snapshot.id, "share_snapshot.unmanage.end", &cx.job.request_id).await.map_err(given_back)?;
    settled(cx, tx).await
}

/// -> unmanage_error.
async fn failed(cx: &JobContext, snapshot: &ShareSnapshotRow, detail: ShareDetail, text: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_snapshot_status(&snapshot.id, UNMANAGING, ShareSnapshotStatus::UnmanageError, clock::now()).await? {
        tell(&mut tx, cx, snapshot, ShareAction::Unmanage, detail, text).await?;
        destroy::event_now(&mut tx, "share_snapshot.unmanage.error", &snapshot.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}
