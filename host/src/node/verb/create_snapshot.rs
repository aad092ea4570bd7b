//! Snapshot a volume, also while it is written to.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::{Node, fence};
use crate::node::{
    Call, blocking,
    disk::{From, Of},
    name::ObjectId,
    refusal::{Refusal, Result},
    state::{Phase, Snapshot},
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotBody {
    pub volume: ObjectId,
}

impl Node {
    /// A repeat answers with the snapshot as it was first taken.
    ///
    /// # Errors
    /// `conflict` when the id is another volume's snapshot; `exhausted`, with nothing left behind.
    pub async fn create_snapshot(&self, call: &Call, id: ObjectId, body: SnapshotBody) -> Result<Arc<Snapshot>> {
        let _lock = self.locks.snapshot(&id).await;
        let before = self.records.snapshots.get(&id);
        if let Some(before) = &before {
            fence(format_args!("snapshot {id}"), before.generation, call)?;
            if before.is_live() {
                return self.taken_before(Snapshot::clone(before), call, &body).await;
            }
        }
        let taken = self.take(&id, &body.volume).await;
        let size_gib = match taken {
            Ok(size) => size,
            Err(e) => {
                let stone = Snapshot::tombstone(id.clone(), call.generation);
                if let Err(e) = self.records.snapshots.put(stone).await {
                    tracing::warn!(snapshot = %id, error = %e, "the generation of a refused create is not remembered");
                }
                return Err(e);
            }
        };
        let record = Snapshot {
            id: id.clone(),
            phase: Phase::Live,
            generation: call.generation,
            volume: Some(body.volume),
            size_gib,
            created_at: Timestamp::now(),
            ended_at: None,
        };
        if let Err(e) = self.records.snapshots.write(&record).await {
            self.disk.discard_work(Of::Snapshot, &id);
            return Err(e);
        }
        let disk = self.disk.clone();
        let published = blocking(move || disk.publish(Of::Snapshot, &id)).await;
        let record = self.records.snapshots.show(record);
        published.map(|()| record)
    }

    async fn taken_before(&self, mut before: Snapshot, call: &Call, body: &SnapshotBody) -> Result<Arc<Snapshot>> {
        if before.volume.as_ref() != Some(&body.volume) {
            return Err(Refusal::conflict(format!("snapshot {} exists, and is of another volume", before.id)));
        }
        let (disk, id) = (self.disk.clone(), before.id.clone());
        blocking(move || if disk.file(Of::Snapshot, &id).exists() { Ok(()) } else { disk.publish(Of::Snapshot, &id) }).await?;
        if call.generation == before.generation {
            return Ok(self.records.snapshots.show(before));
        }
        before.generation = call.generation;
        self.records.snapshots.put(before).await
    }

    async fn take(&self, id: &ObjectId, volume: &ObjectId) -> Result<u64> {
        self.volume(volume)?;
        let (disk, id, volume) = (self.disk.clone(), id.clone(), volume.clone());
        blocking(move || disk.make(Of::Snapshot, &id, From::File(Of::Volume, &volume), None)).await
    }
}
