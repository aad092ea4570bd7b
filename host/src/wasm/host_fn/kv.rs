//! `kv`: durable values of one back end, shared by every process.
//!
//! Every failure leaves the stored value as it was, except that a write whose commit got no answer, or whose worker lost its
//! lease while it was written, may have been done.

use super::keys::is_key;
use crate::{
    jobs::Lease,
    store::{
        StoreError, StoreResult,
        sql::driver_kv::{DriverDb, Expect, KvDelete, KvEntry, KvItem, KvWrite},
    },
};

const MAX_VALUE: usize = 64 << 10;
const MAX_SCAN: u32 = 1000;
/// A scan ends early rather than fill a guest's memory.
const MAX_SCAN_BYTES: usize = 4 << 20;

/// Why a call of `kv` failed.
#[derive(Debug, thiserror::Error)]
pub enum KvError {
    #[error("a key is 1 to 255 bytes of printable ASCII")]
    InvalidKey,
    #[error("a value has at most {0} bytes")]
    TooLarge(u64),
    #[error("the back end's {0} bytes are used up")]
    Full(u64),
    #[error("the store did not answer")]
    Unavailable(#[from] StoreError),
    #[error("this process no longer owns the work")]
    NotOwner,
}

/// How a compare-and-swap ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KvSwap {
    Swapped(i64),
    Differs(Option<KvEntry>),
}

/// The values of one back end.
#[derive(Debug, Clone)]
pub struct Kv {
    db: DriverDb,
    backend: String,
    limit: i64,
}

impl Kv {
    pub fn new(db: DriverDb, backend: impl Into<String>, limit_bytes: u64) -> Self {
        Self { db, backend: backend.into(), limit: i64::try_from(limit_bytes).unwrap_or(i64::MAX) }
    }

    /// # Errors
    /// [`KvError`], as every function here.
    pub async fn get(&self, key: &str) -> Result<Option<KvEntry>, KvError> {
        check(key)?;
        Ok(self.db.kv_get(&self.backend, key).await?)
    }

    /// Writes whatever is there; answers the new version.
    pub async fn put(&self, lease: &Lease, key: &str, value: &[u8]) -> Result<i64, KvError> {
        match self.write(lease, key, value, Expect::Anything).await? {
            KvSwap::Swapped(version) => Ok(version),
            // nothing differs from anything
            KvSwap::Differs(_) => Err(KvError::Unavailable(StoreError::Corrupt("an unconditional write was refused".to_owned()))),
        }
    }

    /// Writes only over `expected`; none: only where nothing is.
    pub async fn compare_and_swap(&self, lease: &Lease, key: &str, expected: Option<i64>, value: &[u8]) -> Result<KvSwap, KvError> {
        self.write(lease, key, value, expected.map_or(Expect::Absent, Expect::Version)).await
    }

    async fn write(&self, lease: &Lease, key: &str, value: &[u8], expect: Expect) -> Result<KvSwap, KvError> {
        check(key)?;
        if value.len() > MAX_VALUE {
            return Err(KvError::TooLarge(u64::try_from(MAX_VALUE).unwrap_or(u64::MAX)));
        }
        match owned(lease, self.db.kv_put(&self.backend, key, value, expect, self.limit)).await? {
            KvWrite::Written(version) => Ok(KvSwap::Swapped(version)),
            KvWrite::Differs(found) => Ok(KvSwap::Differs(found)),
            KvWrite::Full { limit, .. } => Err(KvError::Full(u64::try_from(limit).unwrap_or(0))),
        }
    }

    /// True if something was deleted. `expected` none: whatever version is there.
    pub async fn delete(&self, lease: &Lease, key: &str, expected: Option<i64>) -> Result<bool, KvError> {
        check(key)?;
        let expect = expected.map_or(Expect::Anything, Expect::Version);
        Ok(owned(lease, self.db.kv_delete(&self.backend, key, expect)).await? == KvDelete::Deleted)
    }

    /// What begins with `prefix` (may be empty) and sorts after `after`. Fewer than `limit` does not mean the end; nothing does.
    pub async fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<KvItem>, KvError> {
        if !prefix.is_empty() {
            check(prefix)?;
        }
        let mut items = self.db.kv_scan(&self.backend, prefix, after.unwrap_or_default(), i64::from(limit.min(MAX_SCAN))).await?;
        let mut bytes = 0;
        let fits = items.iter().take_while(|i| {
            bytes += i.key.len() + i.value.len();
            bytes <= MAX_SCAN_BYTES
        });
        let keep = fits.count().max(1);
        items.truncate(keep);
        Ok(items)
    }
}

fn check(key: &str) -> Result<(), KvError> {
    if is_key(key) { Ok(()) } else { Err(KvError::InvalidKey) }
}

/// Carries a write out for as long as this process owns the work.
async fn owned<T>(lease: &Lease, write: impl Future<Output = StoreResult<T>>) -> Result<T, KvError> {
    tokio::select! {
        biased;
        () = lease.cancelled() => Err(KvError::NotOwner),
        done = write => Ok(done?),
    }
}
