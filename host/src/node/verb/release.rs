//! Forget a volume and leave its data, as a file in the import folder.

use super::{Node, fence, unattached};
use crate::node::{
    Call, blocking,
    name::{ImportName, ObjectId},
    refusal::{Refusal, Result},
    state::{Phase, Volume},
};

impl Node {
    /// # Errors
    /// `busy` while it is attached; `conflict` when the import folder has such a file.
    pub async fn release(&self, call: &Call, id: ObjectId) -> Result<ImportName> {
        let _lock = self.locks.volume(&id).await;
        let name = ImportName::of_released(&id);
        let Some(before) = self.records.volumes.get(&id) else { return Err(Refusal::not_found(format!("there is no volume {id}"))) };
        fence(format_args!("volume {id}"), before.generation, call)?;
        let (disk, file) = (self.disk.clone(), id.clone());
        match before.phase {
            Phase::Deleted => return Err(Refusal::not_found(format!("there is no volume {id}"))),
            Phase::Released => {}
            Phase::Live => {
                unattached(&before)?;
                let looked = disk.clone();
                if blocking(move || Ok(looked.release_is_taken(&file))).await? {
                    return Err(Refusal::conflict(format!("the import folder has a file {name} already")));
                }
                self.records.volumes.put_freeing(Volume::tombstone(id.clone(), call.generation, Phase::Released, Some(&before))).await?;
            }
        }
        blocking(move || disk.release(&id)).await?;
        Ok(name)
    }
}
