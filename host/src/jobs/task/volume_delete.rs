//! `volume.delete`: the driver's delete, then the row goes.
//!
//! The driver answers success for what is gone, so a repeat after a crash ends well. Busy gives a volume
//! back that was available; any other failure that repeats do not cure ends in `error_deleting`, from where its owner may delete again.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{block_support as support, repeats};
use crate::{
    clock,
    domain::volume::VolumeStatus,
    driver::{DriverResult, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    quota::QuotaError,
    service::volume::destroy,
    store::{Tx, sql::volumes::VolumeRow},
};

pub struct VolumeDelete;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Its status before: one that was never whole does not become available.
    was: Option<String>,
    /// Failures in a row.
    failures: u32,
}

/// The event of a delete that did not delete.
const ERROR: &str = "volume.delete.error";

const DELETING: &[VolumeStatus] = &[VolumeStatus::Deleting];

impl Task for VolumeDelete {
    fn kind(&self) -> &'static str {
        "volume.delete"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(volume) = deleting(cx).await? else { return not_ours(cx).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            if let Some(backend) = volume.backend()
                && let Some(later) = cx.change_lane(backend, &cx.job.payload).await
            {
                return Ok(later); // a volume that was placed after its delete was asked for
            }
            if cx.app.store.has_snapshots(&volume.id).await? {
                // those that were to go with it did not
                return end(cx, &volume, VolumeStatus::ErrorDeleting, Detail::HasSnapshots, "Delete them, and the volume again.").await;
            }
            match delete(cx, &volume).await? {
                Ok(()) => remove(cx, &volume).await,
                Err(e) if e.kind == ErrorKind::NotFound => remove(cx, &volume).await,
                Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
                Err(e) => {
                    tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not delete the volume");
                    ask.failures += 1;
                    if let Some(after) = repeats::again(&e, ask.failures) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    if e.kind == ErrorKind::Busy {
                        let whole = ask.was.as_deref() == Some(VolumeStatus::Available.as_str());
                        let status = if whole { VolumeStatus::Available } else { VolumeStatus::ErrorDeleting };
                        return end(cx, &volume, status, Detail::VolumeIsBusy, e.user_message.as_deref().unwrap_or("")).await;
                    }
                    end(cx, &volume, VolumeStatus::ErrorDeleting, Detail::DriverFailedDelete, e.user_text()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(volume) = deleting(cx).await? else { return not_ours(cx).await };
            end(cx, &volume, VolumeStatus::ErrorDeleting, Detail::TookTooLong, "Delete the volume again.").await
        })
    }
}

/// The volume, if this job still has something to do.
async fn deleting(cx: &JobContext) -> Result<Option<VolumeRow>, TaskError> {
    Ok(cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| v.status == VolumeStatus::Deleting.as_str()))
}

async fn delete(cx: &JobContext, volume: &VolumeRow) -> Result<DriverResult<()>, TaskError> {
    let Some(backend) = volume.backend() else { return Ok(Ok(())) };
    let told = support::driver_volume(cx, volume).await?;
    Ok(match support::volumes_of(cx, backend) {
        Ok(driver) => driver.delete(&support::call(cx, "delete"), &told).await,
        Err(e) => Err(e),
    })
}

async fn remove(cx: &JobContext, volume: &VolumeRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let gone = destroy::remove(&mut tx, volume, DELETING, &cx.job.request_id).await.map_err(|e| match e {
        QuotaError::Store(e) => TaskError::from(e),
        other => TaskError::Other(other.to_string()),
    })?;
    if !gone {
        destroy::event_now(&mut tx, ERROR, &volume.id, &cx.job.request_id).await?;
    }
    done(cx, tx).await
}

/// The volume is gone, or an operator gave it another status: then its delete has come to nothing.
async fn not_ours(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    destroy::event_now(&mut tx, ERROR, &cx.job.resource_id, &cx.job.request_id).await?;
    done(cx, tx).await
}

async fn end(cx: &JobContext, volume: &VolumeRow, status: VolumeStatus, detail: Detail, extra: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.volume_status(&volume.id, DELETING, status, clock::now()).await? {
        support::tell(&mut tx, cx, volume, Action::DeleteVolume, detail, extra).await?;
    }
    destroy::event_now(&mut tx, ERROR, &volume.id, &cx.job.request_id).await?;
    done(cx, tx).await
}

async fn done(cx: &JobContext, tx: Tx) -> Result<Outcome, TaskError> {
    cx.settle(tx, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}
