//! What has served its time is deleted: ended jobs, tombstones, messages, turns that ended. Nothing grows for ever.

use std::time::Duration;

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{
    error::Result,
    store::{Store, StoreResult},
};

/// Rows deleted in one transaction, so that it stays short.
const BATCH: i64 = 1000;

#[derive(Clone, Copy)]
enum Kind {
    Jobs,
    Tombstones,
    Messages,
    Turns,
}

/// The loop, and how long each kind is kept.
#[derive(Debug, Clone)]
pub struct Purge {
    store: Store,
    /// Ended jobs: as long as somebody may still ask for the result.
    pub jobs: Duration,
    pub tombstones: Duration,
}

impl Purge {
    pub fn new(store: Store) -> Self {
        Self { store, jobs: Duration::from_secs(600), tombstones: Duration::from_secs(7 * 24 * 3600) }
    }

    async fn batch(&self, kind: Kind) -> StoreResult<u64> {
        let mut tx = self.store.begin().await?;
        let gone = match kind {
            Kind::Jobs => tx.purge_jobs(self.jobs, BATCH).await?,
            Kind::Tombstones => tx.purge_tombstones(self.tombstones, BATCH).await?,
            Kind::Messages => tx.purge_messages(Duration::ZERO, BATCH).await?,
            Kind::Turns => tx.purge_connect_turns(self.jobs, BATCH).await?,
        };
        tx.commit().await?;
        Ok(gone)
    }

    /// Deletes everything that is due; how many rows.
    ///
    /// # Errors
    /// What is left is deleted next time.
    pub async fn purge_all(&self) -> StoreResult<u64> {
        let mut total = 0;
        for kind in [Kind::Jobs, Kind::Tombstones, Kind::Messages, Kind::Turns] {
            loop {
                let gone = self.batch(kind).await?;
                total += gone;
                if gone < BATCH.unsigned_abs() {
                    break;
                }
            }
        }
        Ok(total)
    }
}

impl Reconciler for Purge {
    fn name(&self) -> &'static str {
        "purge"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn is_duty(&self) -> bool {
        true
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let gone = self.purge_all().await?;
            Ok(if gone == 0 { String::new() } else { format!("{gone} rows purged") })
        })
    }
}
