//! Validated tokens in memory.
//!
//! Every change to identity in this process starts a new epoch once it has committed, and an entry counts only in the epoch
//! in which its reading began: a revoked token is refused by this process at once, whatever was being read meanwhile. Other
//! processes on the same database notice within [`SHARED_TTL`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::future::Cache;

use super::token::TokenInfo;
use crate::error::{Error, Result};

/// How long an entry counts where other processes may revoke.
pub const SHARED_TTL: Duration = Duration::from_secs(3);
/// How long it counts where this process is the only one.
pub const ALONE_TTL: Duration = Duration::from_secs(60);

type Key = ([u8; 32], u64);

/// Cheap to clone.
#[derive(Clone)]
pub struct TokenCache {
    entries: Cache<Key, Arc<TokenInfo>>,
    epoch: Arc<AtomicU64>,
}

impl TokenCache {
    pub fn new(ttl: Duration) -> Self {
        Self { entries: Cache::builder().max_capacity(100_000).time_to_live(ttl).build(), epoch: Arc::default() }
    }

    /// The entry, or what `read` finds; several who ask at once share one reading.
    pub async fn get(&self, digest: [u8; 32], read: impl Future<Output = Result<Arc<TokenInfo>>>) -> Result<Arc<TokenInfo>> {
        let key = (digest, self.epoch.load(Ordering::Acquire));
        self.entries.try_get_with(key, read).await.map_err(|e| Error::new(e.kind, e.message.clone()).with_source(e))
    }

    /// Nothing that was read before counts any more.
    pub fn forget_all(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }
}
