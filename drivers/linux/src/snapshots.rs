//! Snapshots of volumes, and the way back to one. They are on the node of their volume; the host is told which pool that is,
//! since later it gives a snapshot without its volume.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::{prelude::*, serde_json::json};

use crate::{Linux, names, wire};

/// The `provider-data` of a snapshot.
#[derive(Serialize, Deserialize)]
struct Mark {
    pool: String,
}

/// The pool a snapshot was taken in, if the host was told.
pub fn pool_of(snapshot: &VolumeSnapshot) -> Option<String> {
    serde_json::from_str::<Mark>(snapshot.provider_data.as_deref()?).ok().map(|mark| mark.pool)
}

impl VolumeSnapshots for Linux {
    fn create_snapshot(&self, cx: &Context, snapshot: &VolumeSnapshot, volume: &Volume) -> Result<SnapshotUpdate> {
        names::volume(&volume.id)?;
        let node = self.node(cx, &volume.pool)?;
        let taken: wire::Snapshot = node.put(&names::snapshot(&snapshot.id)?, &json!({ "volume": volume.id }))?;
        if taken.id != snapshot.id || taken.volume != volume.id {
            return Err(wire::unusable(format!("it is about snapshot {:?} of volume {:?}", taken.id, taken.volume)));
        }
        let mark = serde_json::to_string(&Mark { pool: volume.pool.clone() })?;
        Ok(SnapshotUpdate { provider_id: None, provider_data: Some(mark) })
    }

    fn delete_snapshot(&self, cx: &Context, snapshot: &VolumeSnapshot, volume: &Volume) -> Result<()> {
        self.node(cx, &volume.pool)?.delete(&names::snapshot(&snapshot.id)?)
    }
}

impl VolumeRevert for Linux {
    fn revert_volume(&self, cx: &Context, volume: &Volume, snapshot: &VolumeSnapshot) -> Result<()> {
        names::snapshot(&snapshot.id)?;
        let node = self.node(cx, &volume.pool)?;
        let path = format!("{}/revert", names::volume(&volume.id)?);
        let reverted: wire::Volume = node.post(&path, Some(&json!({ "snapshot": snapshot.id })))?;
        reverted.checked(&volume.id, snapshot.size_gib).map(drop)
    }
}
