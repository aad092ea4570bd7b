//! Extend a volume, also while it is attached.

use std::sync::Arc;

use serde::Deserialize;

use super::{Node, size};
use crate::node::{
    Call, blocking,
    disk::Of,
    export::Key,
    name::ObjectId,
    refusal::{Kind, Refusal, Result},
    state::Volume,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeBody {
    pub size_gib: u64,
}

impl Node {
    /// # Errors
    /// `data-loss-risk` for a shrink.
    pub async fn extend(&self, call: &Call, id: ObjectId, body: SizeBody) -> Result<Arc<Volume>> {
        let _lock = self.locks.volume(&id).await;
        let new = size(body.size_gib)?;
        let mut volume = self.volume_for(&id, call)?;
        if new < volume.size_gib {
            return Err(Refusal::new(Kind::DataLossRisk, format!("volume {id} has {} GiB; it is not shrunk to {new}", volume.size_gib)));
        }
        let (disk, file) = (self.disk.clone(), id.clone());
        if new > volume.size_gib {
            let room = disk.clone();
            blocking(move || room.room()).await?;
            let before = volume.clone();
            volume.size_gib = new;
            volume.generation = call.generation;
            // promised on disk, done, and only then shown: nobody exports the new size before the file has it
            self.records.volumes.write(&volume).await?;
            if let Err(e) = blocking(move || disk.grow(Of::Volume, &file, new)).await {
                self.records.volumes.write(&before).await?;
                return Err(e);
            }
            self.records.volumes.show(volume.clone());
        }
        let volume = self.seen(volume, call).await?;
        self.apply_all(&volume).await?;
        Ok(volume)
    }

    /// Makes every target that shows the volume what it should be.
    pub(super) async fn apply_all(&self, volume: &Volume) -> Result<()> {
        for (initiator, attachment) in &volume.attachments {
            self.exports.apply(Key::of(volume, initiator), |number| number == attachment.lun).await?;
        }
        Ok(())
    }
}
