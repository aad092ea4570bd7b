//! Back to a snapshot in place.

use std::sync::Arc;

use serde::Deserialize;

use super::{Node, unattached};
use crate::node::{
    Call, blocking,
    disk::{From, Of},
    name::ObjectId,
    refusal::{Refusal, Result},
    state::Volume,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevertBody {
    pub snapshot: ObjectId,
}

impl Node {
    /// # Errors
    /// `busy` while it is attached; `invalid` for another volume's snapshot.
    pub async fn revert(&self, call: &Call, id: ObjectId, body: RevertBody) -> Result<Arc<Volume>> {
        let _lock = self.locks.volume(&id).await;
        let volume = self.volume_for(&id, call)?;
        unattached(&volume)?;
        let snapshot = self.snapshot(&body.snapshot)?;
        if snapshot.volume.as_ref() != Some(&id) {
            return Err(Refusal::invalid(format!("snapshot {} is not of volume {id}", snapshot.id)));
        }
        let (disk, size) = (self.disk.clone(), volume.size_gib);
        let (target, source) = (id.clone(), snapshot.id.clone());
        blocking(move || disk.make(Of::Volume, &target, From::File(Of::Snapshot, &source), Some(size))).await?;
        let volume = match self.seen(volume, call).await {
            Ok(volume) => volume,
            Err(e) => {
                self.disk.discard_work(Of::Volume, &id);
                return Err(e);
            }
        };
        // one rename: a kill leaves the old content or the new
        let disk = self.disk.clone();
        blocking(move || disk.publish(Of::Volume, &id).and_then(|()| disk.sync_folder(Of::Volume))).await?;
        Ok(volume)
    }
}
