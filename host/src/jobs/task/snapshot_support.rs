//! What the tasks about snapshots, and those that try a driver call several times, have in common.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{block_support as support, patience};
use crate::{
    driver::{DriverError, ErrorKind, types},
    jobs::{JobContext, Outcome, TaskError},
    notify::message::{Action, Detail, NewMessage, Resource},
    store::sql::metadata::MetadataOf,
    store::{StoreResult, Tx, sql::snapshots::SnapshotRow},
};

/// What a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tried {
    /// Failures in a row.
    pub failures: u32,
    /// Something may have been done all the same: by a failure, or by a run of which nothing is known.
    pub uncertain: bool,
    /// The last run that ended with what stands here.
    pub ended: i64,
}

impl Tried {
    /// What the runs before this one left. A run that was killed or handed back may have called the driver, and wrote nothing.
    pub fn begin(mut self, attempts: i64) -> Self {
        self.uncertain |= lost_a_run(self.ended, attempts);
        self.ended = attempts;
        self
    }

    /// Counts a failure; when the same call is to be made again. None: that is the end of it.
    pub fn again(&mut self, e: &DriverError) -> Option<std::time::Duration> {
        self.failures += 1;
        self.uncertain |= e.may_have_happened();
        patience::again(e, self.failures)
    }
}

/// Whether a run between the `ended`-th, which wrote its payload, and this one ended without a trace.
pub fn lost_a_run(ended: i64, attempts: i64) -> bool {
    attempts > ended + 1
}

/// `Fenced` when the lease is lost: another worker owns the job now.
pub fn unless_fenced(e: &DriverError) -> Result<(), TaskError> {
    if e.kind == ErrorKind::LeaseLost { Err(TaskError::Fenced) } else { Ok(()) }
}

/// The snapshot as the driver is told of it.
pub async fn driver_snapshot(cx: &JobContext, snapshot: &SnapshotRow) -> StoreResult<types::VolumeSnapshot> {
    let metadata = cx.app.store.metadata(MetadataOf::Snapshot, &snapshot.id).await?;
    Ok(types::VolumeSnapshot {
        id: snapshot.id.clone(),
        name: snapshot.name.clone().unwrap_or_default(),
        project_id: snapshot.project_id.clone(),
        volume_id: snapshot.volume_id.clone(),
        size_gib: u64::try_from(snapshot.size_gib).unwrap_or(0),
        provider_id: snapshot.provider_id.clone(),
        provider_data: snapshot.provider_data.clone(),
        metadata: metadata.into_iter().collect(),
    })
}

/// The snapshot and its volume, as the driver is told of them, and the volume's back end. None: the volume is gone.
pub async fn told(cx: &JobContext, snapshot: &SnapshotRow) -> Result<Option<(types::VolumeSnapshot, types::Volume, String)>, TaskError> {
    let Some(volume) = cx.app.store.volume(&snapshot.volume_id).await? else { return Ok(None) };
    let backend = volume.backend().unwrap_or_default().to_owned();
    Ok(Some((driver_snapshot(cx, snapshot).await?, support::driver_volume(cx, &volume).await?, backend)))
}

/// A message for the snapshot's owner. Sentences, without internals.
pub async fn tell(tx: &mut Tx, cx: &JobContext, snapshot: &SnapshotRow, action: Action, detail: Detail, extra: &str) -> StoreResult<()> {
    tx.add_message(&NewMessage {
        resource: Resource::VolumeSnapshot,
        resource_id: snapshot.id.clone(),
        project_id: snapshot.project_id.clone(),
        request_id: cx.job.request_id.clone(),
        action,
        detail,
        extra: extra.to_owned(),
    })
    .await?;
    Ok(())
}

/// The job has ended, with `tx`.
pub async fn settled(cx: &JobContext, tx: Tx) -> Result<Outcome, TaskError> {
    cx.settle(tx, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_left_no_trace_may_have_done_something() {
        let first = Tried::default().begin(1);
        assert!(!first.uncertain);
        assert!(!first.clone().begin(2).uncertain);
        assert!(first.begin(3).uncertain);
        assert!(Tried::default().begin(2).uncertain);
    }

    #[test]
    fn a_later_certain_failure_does_not_undo_an_uncertain_one() {
        let mut tried = Tried::default().begin(1);
        tried.again(&DriverError::new(ErrorKind::Deadline, ""));
        tried.again(&DriverError::new(ErrorKind::Exhausted, ""));
        assert!(tried.uncertain);
    }
}
