//! What the tasks about snapshots have in common.

use super::block_support as support;
pub use super::tried::{Tried, lost_a_run, settled, unless_fenced};
use crate::{
    driver::types,
    jobs::{JobContext, TaskError},
    notify::message::{Action, Detail, NewMessage, Resource},
    store::sql::metadata::MetadataOf,
    store::{StoreResult, Tx, sql::snapshots::SnapshotRow},
};

/// The snapshot as the driver is told of it.
pub async fn driver_snapshot(cx: &JobContext, snapshot: &SnapshotRow) -> StoreResult<types::VolumeSnapshot> {
    let metadata = cx.app.store.metadata(MetadataOf::Snapshot, &snapshot.id).await?;
    Ok(types::VolumeSnapshot {
        id: snapshot.id.clone(),
        name: snapshot.name.clone().unwrap_or_default(),
        project_id: snapshot.project_id.clone(),
        volume_id: snapshot.driver_volume_id.clone(),
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
