//! What can be asked of the node, one verb a file. Each checks, fences, carries out, and may be repeated.

mod attach;
mod capacity;
mod create_snapshot;
mod create_volume;
mod delete_snapshot;
mod delete_volume;
mod detach;
mod ensure;
mod extend;
mod forget;
mod layout;
mod release;
mod revert;

use std::sync::Arc;

use super::{
    Call, Node,
    name::ObjectId,
    refusal::{Refusal, Result},
    state::{Snapshot, Volume},
};

/// The largest volume.
pub const LARGEST_GIB: u64 = 65_536;

fn size(gib: u64) -> Result<u64> {
    if (1..=LARGEST_GIB).contains(&gib) {
        return Ok(gib);
    }
    Err(Refusal::invalid(format!("size_gib is from 1 to {LARGEST_GIB}")))
}

fn fence(what: impl std::fmt::Display, seen: u64, call: &Call) -> Result<()> {
    if call.generation < seen { Err(Refusal::stale(what, call.generation, seen)) } else { Ok(()) }
}

impl Node {
    pub fn volume(&self, id: &ObjectId) -> Result<Arc<Volume>> {
        self.records.volumes.get(id).filter(|v| v.is_live()).ok_or_else(|| Refusal::not_found(format!("there is no volume {id}")))
    }

    pub fn snapshot(&self, id: &ObjectId) -> Result<Arc<Snapshot>> {
        self.records.snapshots.get(id).filter(|s| s.is_live()).ok_or_else(|| Refusal::not_found(format!("there is no snapshot {id}")))
    }

    /// The volume, for a verb that changes it. Its lock is held.
    fn volume_for(&self, id: &ObjectId, call: &Call) -> Result<Volume> {
        if let Some(seen) = self.records.volumes.get(id) {
            fence(format_args!("volume {id}"), seen.generation, call)?;
        }
        self.volume(id).map(|v| Volume::clone(&v))
    }

    /// Stores the generation of a call that had nothing to do.
    async fn seen(&self, mut volume: Volume, call: &Call) -> Result<Arc<Volume>> {
        if call.generation <= volume.generation {
            return Ok(self.records.volumes.show(volume));
        }
        volume.generation = call.generation;
        self.records.volumes.put(volume).await
    }
}

/// Of a verb that cannot be carried out on a volume somebody uses.
fn unattached(volume: &Volume) -> Result<()> {
    match volume.attachments.keys().next() {
        None => Ok(()),
        Some(initiator) => Err(Refusal::busy(format!("volume {} is attached to {initiator}", volume.id))),
    }
}
