//! Snapshots of volumes, and back to them.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use super::{VolumeData, gone};
use crate::{
    Memory,
    array::{Array, Object, SNAPSHOTS, VOLUMES},
};

#[derive(Debug, Serialize, Deserialize)]
struct SnapshotData {
    /// What the volume held when it was taken.
    content: String,
}

fn id_of(snapshot: &VolumeSnapshot) -> String {
    format!("{}.{}", snapshot.volume_id, snapshot.id)
}

impl Memory {
    pub fn snapshot_content(&self, array: &dyn Array, snapshot: &VolumeSnapshot) -> Result<String> {
        let object = array.get(SNAPSHOTS, &id_of(snapshot))?;
        let object = object.ok_or_else(|| DriverError::not_found(format!("the array has no snapshot {}", snapshot.id)))?;
        Ok(object.read::<SnapshotData>()?.content)
    }
}

impl VolumeSnapshots for Memory {
    fn create_snapshot(&self, cx: &Context, snapshot: &VolumeSnapshot, volume: &Volume) -> Result<SnapshotUpdate> {
        self.verb(cx, &snapshot.id, &snapshot.name, |plan| {
            let array = self.array(cx);
            let (object, data) = self.volume(&*array, &volume.id)?;
            let taken = Object::new(&object.pool, object.gib, &SnapshotData { content: data.content })?;
            // A repeat finds the snapshot as it was first taken, whatever the volume holds now.
            array.create(SNAPSHOTS, &id_of(snapshot), &taken, self.config.pool(&object.pool)?.limit_gib())?;
            let provider_id = if plan.lie { "lie".repeat(10_000) } else { format!("memory-{}", snapshot.id) };
            Ok(SnapshotUpdate { provider_id: Some(provider_id), provider_data: None })
        })
    }

    fn delete_snapshot(&self, cx: &Context, snapshot: &VolumeSnapshot, _: &Volume) -> Result<()> {
        self.verb(cx, &snapshot.id, &snapshot.name, |_| self.array(cx).remove(SNAPSHOTS, &id_of(snapshot)).map(drop))
    }
}

impl VolumeRevert for Memory {
    fn revert_volume(&self, cx: &Context, volume: &Volume, snapshot: &VolumeSnapshot) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |_| {
            let array = self.array(cx);
            let content = self.snapshot_content(&*array, snapshot)?;
            let reverted = array.change(VOLUMES, &volume.id, None, &mut |object| {
                let mut data: VolumeData = object.read()?;
                data.content.clone_from(&content);
                object.write(&data)?;
                Ok(true)
            })?;
            reverted.map(drop).ok_or_else(|| gone(&volume.id))
        })
    }
}
