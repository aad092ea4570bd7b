//! Compare what is exported with the records, and repair it.

use std::sync::Arc;

use super::Node;
use crate::node::{Call, name::ObjectId, refusal::Result, state::Volume};

impl Node {
    /// # Errors
    /// `transient` when the iSCSI service is down.
    pub async fn ensure(&self, call: &Call, id: ObjectId) -> Result<Arc<Volume>> {
        let _lock = self.locks.volume(&id).await;
        self.volume_for(&id, call)?;
        self.finish_leaving(&id).await?;
        let volume = self.volume_for(&id, call)?;
        let volume = self.seen(volume, call).await?;
        for (initiator, attachment) in &volume.attachments {
            self.exports.verify(crate::node::export::Key::of(&volume, initiator), |number| number == attachment.lun).await?;
        }
        Ok(volume)
    }
}
