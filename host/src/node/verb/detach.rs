//! Take a volume away from an initiator, or from all.

use super::Node;
use crate::node::{
    Call,
    export::Key,
    name::{Initiator, ObjectId},
    refusal::{Refusal, Result},
    state::{Phase, Volume},
};

impl Node {
    /// When it returns, the initiator can neither log in to nor read nor write the volume, and nothing of it is on its way.
    ///
    /// # Errors
    /// `stale-generation`; `transient` when that is not certain yet: a repeat finishes it.
    pub async fn detach(&self, call: &Call, id: ObjectId, initiator: Initiator) -> Result<()> {
        let _lock = self.locks.volume(&id).await;
        // also of a volume that is not there: its attach may still be on its way
        let volume = self.records.volumes.get(&id).map(|v| Volume::clone(&v));
        let mut volume = volume.unwrap_or_else(|| Volume::tombstone(id.clone(), 0, Phase::Deleted, None));
        let fence = volume.fences.entry(initiator.clone()).or_default();
        let seen = fence.attach.max(fence.detach).max(volume.detached_all);
        if call.generation < seen {
            return Err(Refusal::stale(format_args!("attachment of volume {id} to {initiator}"), call.generation, seen));
        }
        if !volume.attachments.contains_key(&initiator) && call.generation == fence.detach {
            return Ok(());
        }
        fence.detach = call.generation;
        self.take_away(volume, &[initiator]).await
    }

    /// # Errors
    /// As [`Node::detach`]; `stale-generation` refuses all of it.
    pub async fn detach_all(&self, call: &Call, id: ObjectId) -> Result<()> {
        let _lock = self.locks.volume(&id).await;
        // also for initiators that were not seen: their attach may still be on its way
        let volume = self.records.volumes.get(&id).map(|v| Volume::clone(&v));
        let mut volume = volume.unwrap_or_else(|| Volume::tombstone(id.clone(), 0, Phase::Deleted, None));
        let newest = volume.fences.values().map(|f| f.attach.max(f.detach)).max().unwrap_or_default().max(volume.detached_all);
        if call.generation < newest {
            return Err(Refusal::stale(format_args!("attachments of volume {id}"), call.generation, newest));
        }
        volume.detached_all = call.generation;
        let initiators: Vec<Initiator> = volume.attachments.keys().cloned().collect();
        self.take_away(volume, &initiators).await
    }

    /// Finishes detaches that could not be certain when they were asked for. The volume's lock is held.
    pub(super) async fn finish_leaving(&self, id: &ObjectId) -> Result<()> {
        let Some(volume) = self.records.volumes.get(id) else { return Ok(()) };
        let leaving: Vec<Initiator> = volume.attachments.iter().filter(|(_, a)| a.leaving).map(|(i, _)| i.clone()).collect();
        if leaving.is_empty() { Ok(()) } else { self.take_away(Volume::clone(&volume), &leaving).await }
    }

    /// The same for every volume.
    ///
    /// # Errors
    /// The first failure.
    pub async fn finish_all_leaving(&self) -> Result<()> {
        let mut outcome = Ok(());
        for volume in self.records.volumes.page(None, usize::MAX, |v| v.attachments.values().any(|a| a.leaving)) {
            let _lock = self.locks.volume(&volume.id).await;
            outcome = outcome.and(self.finish_leaving(&volume.id).await);
        }
        outcome
    }

    /// First from initiators, then from the record: as long as it is written down the volume counts as attached.
    async fn take_away(&self, mut volume: Volume, initiators: &[Initiator]) -> Result<()> {
        let keys: Vec<Key> = initiators.iter().filter(|i| volume.attachments.contains_key(*i)).map(|i| Key::of(&volume, i)).collect();
        if !keys.is_empty() {
            let mut leaving = volume.clone();
            for initiator in initiators {
                if let Some(attachment) = leaving.attachments.get_mut(initiator) {
                    attachment.leaving = true;
                }
            }
            self.records.volumes.show(leaving);
            for key in keys {
                // a LUN that cannot be shown is no reason not to take one away
                self.exports.apply(key, |_| false).await?;
            }
        }
        for initiator in initiators {
            volume.attachments.remove(initiator);
        }
        self.records.volumes.put_freeing(volume).await.map(drop)
    }
}
