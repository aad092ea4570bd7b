//! Tombstones do not stay for ever.

use jiff::{SignedDuration, Timestamp};

use super::Node;
use crate::node::{
    name::ObjectId,
    refusal::Result,
    state::{Record, Table},
};

/// Longer than any call can be on its way.
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

impl Node {
    /// Forgets what ended long ago.
    pub async fn forget_tombstones(&self) {
        for id in old(&self.records.volumes) {
            let _lock = self.locks.volume(&id).await;
            report(&id, forget(&self.records.volumes, &id));
        }
        for id in old(&self.records.snapshots) {
            let _lock = self.locks.snapshot(&id).await;
            report(&id, forget(&self.records.snapshots, &id));
        }
    }
}

fn is_old(record: &impl Record) -> bool {
    record.ended_at().is_some_and(|at| Timestamp::now().duration_since(at) > KEPT)
}

fn old<R: Record>(table: &Table<R>) -> Vec<ObjectId> {
    table.page(None, usize::MAX, is_old).iter().map(|r| r.id().clone()).collect()
}

fn forget<R: Record>(table: &Table<R>, id: &ObjectId) -> Result<()> {
    // it may have been made again meanwhile
    if table.get(id).is_some_and(|r| is_old(&*r)) { table.forget(id) } else { Ok(()) }
}

fn report(id: &ObjectId, outcome: Result<()>) {
    if let Err(e) = outcome {
        tracing::warn!(%id, error = %e, "a tombstone is not forgotten");
    }
}
