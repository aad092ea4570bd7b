//! Retype between the target layouts.

use std::sync::Arc;

use serde::Deserialize;

use super::{Node, unattached};
use crate::node::{
    Call,
    name::{Layout, ObjectId},
    refusal::Result,
    state::Volume,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutBody {
    pub layout: Layout,
}

impl Node {
    /// # Errors
    /// `busy` while it is attached.
    pub async fn set_layout(&self, call: &Call, id: ObjectId, body: LayoutBody) -> Result<Arc<Volume>> {
        let _lock = self.locks.volume(&id).await;
        let mut volume = self.volume_for(&id, call)?;
        if volume.layout == body.layout {
            return self.seen(volume, call).await;
        }
        unattached(&volume)?;
        volume.layout = body.layout;
        volume.generation = call.generation;
        self.records.volumes.put(volume).await
    }
}
