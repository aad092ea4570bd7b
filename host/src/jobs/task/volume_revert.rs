//! `volume.revert`: the driver gives the volume the content of its latest snapshot back.
//!
//! A repeat writes the same content again. When it is certain that nothing was changed, the volume is available as before;
//! otherwise its content is unknown and it ends in error. The snapshot is available again either way.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support as support,
    snapshot_support::{Tried, driver_snapshot, settled, unless_fenced},
};
use crate::{
    clock,
    domain::{snapshot::SnapshotStatus, volume::VolumeStatus},
    driver::{DriverError, DriverResult, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    service::{snapshot, volume::destroy::event_now},
    store::sql::volumes::VolumeRow,
};

pub struct VolumeRevert;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    snapshot_id: String,
    #[serde(default)]
    tried: Tried,
}

fn ask(cx: &JobContext) -> Result<Ask, TaskError> {
    let ask: Ask =
        serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
    Ok(Ask { tried: ask.tried.begin(cx.job.attempts), ..ask })
}

impl Task for VolumeRevert {
    fn kind(&self) -> &'static str {
        "volume.revert"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = ask(cx)?;
            let volume = cx.app.store.volume(&cx.job.resource_id).await?;
            let Some(volume) = volume.filter(|v| v.status == VolumeStatus::Reverting.as_str()) else {
                return end(cx, None, &ask, VolumeStatus::Available, None).await;
            };
            match revert(cx, &volume, &ask).await? {
                Ok(()) => end(cx, Some(&volume), &ask, VolumeStatus::Available, None).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not revert the volume");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    let status = if ask.tried.uncertain { VolumeStatus::Error } else { VolumeStatus::Available };
                    end(cx, Some(&volume), &ask, status, Some((Detail::DriverFailedRevert, e.user_text()))).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = ask(cx)?;
            let volume = cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| v.status == VolumeStatus::Reverting.as_str());
            let why = (Detail::TookTooLong, "What the volume holds is not known.");
            end(cx, volume.as_ref(), &ask, VolumeStatus::Error, Some(why)).await
        })
    }
}

async fn revert(cx: &JobContext, volume: &VolumeRow, ask: &Ask) -> Result<DriverResult<()>, TaskError> {
    let Some(snapshot) = cx.app.store.snapshot(&ask.snapshot_id).await? else {
        return Ok(Err(DriverError::new(ErrorKind::NotFound, "the snapshot is gone")));
    };
    let (told, snapshot) = (support::driver_volume(cx, volume).await?, driver_snapshot(cx, &snapshot).await?);
    let answer = async {
        let backend = cx.app.drivers.backend(volume.backend().unwrap_or_default())?;
        backend.need_volume_revert()?.revert(&support::call(cx, "revert"), &told, &snapshot).await
    };
    Ok(answer.await)
}

/// Both get their end states. `volume` is none when somebody gave it another status meanwhile.
async fn end(
    cx: &JobContext,
    volume: Option<&VolumeRow>,
    ask: &Ask,
    status: VolumeStatus,
    why: Option<(Detail, &str)>,
) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    let mut reverted = false;
    if let Some(volume) = volume
        && tx.volume_status(&volume.id, &[VolumeStatus::Reverting], status, now).await?
    {
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, volume, Action::RevertVolume, detail, text).await?;
        }
        reverted = why.is_none();
    }
    let end = if reverted { "end" } else { "error" };
    event_now(&mut tx, &format!("volume.revert.{end}"), &cx.job.resource_id, &cx.job.request_id).await?;
    tx.snapshot_status(&ask.snapshot_id, &[SnapshotStatus::Restoring], SnapshotStatus::Available, now).await?;
    snapshot::destroy::event_now(&mut tx, &format!("snapshot.revert.{end}"), &ask.snapshot_id, &cx.job.request_id).await?;
    settled(cx, tx).await
}
