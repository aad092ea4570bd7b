//! Delete a snapshot. Nothing depends on one: blocks that others share stay.

use super::{Node, fence};
use crate::node::{Call, blocking, disk::Of, name::ObjectId, refusal::Result, state::Snapshot};

impl Node {
    /// # Errors
    /// `stale-generation`, `internal`.
    pub async fn delete_snapshot(&self, call: &Call, id: ObjectId) -> Result<()> {
        let _lock = self.locks.snapshot(&id).await;
        if let Some(before) = self.records.snapshots.get(&id) {
            fence(format_args!("snapshot {id}"), before.generation, call)?;
            if !before.is_live() && call.generation == before.generation {
                return Ok(());
            }
        }
        self.records.snapshots.put_freeing(Snapshot::tombstone(id.clone(), call.generation)).await?;
        let disk = self.disk.clone();
        blocking(move || {
            disk.discard_work(Of::Snapshot, &id);
            disk.remove(Of::Snapshot, &id)
        })
        .await
    }
}
