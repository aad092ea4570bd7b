//! Delete a volume.

use super::{Node, fence, unattached};
use crate::node::{
    Call, blocking,
    disk::Of,
    name::ObjectId,
    refusal::Result,
    state::{Phase, Volume},
};

impl Node {
    /// A volume that never was is remembered as deleted: its create may still be on its way.
    ///
    /// # Errors
    /// `busy` while it is attached.
    pub async fn delete_volume(&self, call: &Call, id: ObjectId) -> Result<()> {
        let _lock = self.locks.volume(&id).await;
        let before = self.records.volumes.get(&id);
        if let Some(before) = &before {
            fence(format_args!("volume {id}"), before.generation, call)?;
            unattached(before)?;
            if !before.is_live() && call.generation == before.generation {
                return Ok(());
            }
        }
        // what was released is not ours to delete
        let phase = before.as_ref().filter(|b| b.phase == Phase::Released).map_or(Phase::Deleted, |b| b.phase);
        self.records.volumes.put_freeing(Volume::tombstone(id.clone(), call.generation, phase, before.as_deref())).await?;
        let disk = self.disk.clone();
        blocking(move || {
            disk.discard_work(Of::Volume, &id);
            if phase == Phase::Deleted { disk.remove(Of::Volume, &id) } else { Ok(()) }
        })
        .await
    }
}
