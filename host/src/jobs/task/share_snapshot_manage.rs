//! `share_snapshot.manage`: the driver takes over a snapshot that somebody else took.
//!
//! The driver's answer to a repeat is the first one: the snapshot is known by our id. A failure that repeats do not cure ends in
//! `manage_error`, from where the snapshot is let go of again; nothing is deleted on the back end.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    adopted::sized,
    block_support::call,
    share_snapshot_support::{tell, told},
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_snapshot::ShareSnapshotStatus,
    driver::{
        DriverResult,
        types::{ShareSnapshotUpdate, StringMap},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::{share::destroy::of_each, share_snapshot::destroy::event_now},
    store::sql::share_snapshots::ShareSnapshotRow,
};

pub struct ShareSnapshotManage;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// What the array knows it by.
    location: String,
    /// For the driver.
    options: StringMap,
    tried: Tried,
}

const MANAGING: &[ShareSnapshotStatus] = &[ShareSnapshotStatus::Managing];

impl Task for ShareSnapshotManage {
    fn kind(&self) -> &'static str {
        "share_snapshot.manage"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = managing(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let e = match adopt(cx, &snapshot, &ask).await? {
                Ok((gib, update)) => return done(cx, &snapshot, gib, update).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not take over the share's snapshot");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            failed(cx, &snapshot, ShareDetail::DriverFailedManageSnapshot, e.user_text()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = managing(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            failed(cx, &snapshot, ShareDetail::TookTooLong, "").await
        })
    }
}

async fn managing(cx: &JobContext) -> Result<Option<ShareSnapshotRow>, TaskError> {
    let snapshot = cx.app.store.share_snapshot(&cx.job.resource_id).await?;
    Ok(snapshot.filter(|s| s.status == ShareSnapshotStatus::Managing.as_str()))
}

async fn adopt(cx: &JobContext, snapshot: &ShareSnapshotRow, ask: &Ask) -> Result<DriverResult<(i64, ShareSnapshotUpdate)>, TaskError> {
    let Some(told) = told(cx, snapshot).await? else { return Err(TaskError::Other("the snapshot's share is gone".to_owned())) };
    let answer = async {
        let backend = cx.app.drivers.backend(&told.backend)?;
        let manage = backend.need_share_snapshot_manage()?;
        sized("snapshot", manage.adopt(&call(cx, "adopt"), &told.snapshot, &told.share, &ask.location, &ask.options).await?)
    };
    Ok(answer.await)
}

async fn done(cx: &JobContext, snapshot: &ShareSnapshotRow, gib: i64, update: ShareSnapshotUpdate) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    if tx.share_snapshot_managed(&snapshot.id, gib, update.provider_id.as_deref(), update.provider_data.as_deref(), now).await? {
        // it was counted as large as its share
        let more = gib - snapshot.size_gib;
        let figures = of_each(&snapshot.project_id, &snapshot.user_id, &snapshot.share_type_id, "snapshot_gigabytes", more);
        tx.quota_count_in(&figures).await?;
        tx.snapshot_locations_replace(&snapshot.instance_id, &update.locations, now).await?;
        event_now(&mut tx, "share_snapshot.manage.end", &snapshot.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}

/// -> manage_error.
async fn failed(cx: &JobContext, snapshot: &ShareSnapshotRow, detail: ShareDetail, text: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_snapshot_status(&snapshot.id, MANAGING, ShareSnapshotStatus::ManageError, clock::now()).await? {
        tell(&mut tx, cx, snapshot, ShareAction::Manage, detail, text).await?;
        event_now(&mut tx, "share_snapshot.manage.error", &snapshot.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}
