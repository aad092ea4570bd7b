//! `kv` and `session` with JSON values and compare-and-swap.

use core::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    error::{DriverError, Result},
    host::{Host, KvSwap, SessionSwap},
};

/// A value and the version to compare when it is swapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    pub value: T,
    pub version: u64,
}

/// How often a swap is tried again before the key counts as busy.
const ATTEMPTS: u32 = 100;

/// Durable values. Keys: 1 to 255 bytes of printable ASCII. Give objects keys of their own: calls run side by side, and
/// one key that all of them change makes them wait for each other.
#[derive(Clone, Copy)]
pub struct Kv<'c> {
    host: &'c dyn Host,
}

impl<'c> Kv<'c> {
    pub(crate) fn new(host: &'c dyn Host) -> Self {
        Self { host }
    }

    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Versioned<T>>> {
        let Some(entry) = self.host.kv_get(key)? else { return Ok(None) };
        Ok(Some(Versioned { value: serde_json::from_slice(&entry.value)?, version: entry.version }))
    }

    /// Writes whatever is there. Answers the new version.
    pub fn put<T: Serialize>(&self, key: &str, value: &T) -> Result<u64> {
        Ok(self.host.kv_put(key, &serde_json::to_vec(value)?)?)
    }

    /// Writes where nothing is yet. False: something is there.
    pub fn insert<T: Serialize>(&self, key: &str, value: &T) -> Result<bool> {
        Ok(self.swap(key, None, value)?.is_some())
    }

    /// Writes if the version is still `expected` (none: if nothing is there). None: it is not.
    pub fn swap<T: Serialize>(&self, key: &str, expected: Option<u64>, value: &T) -> Result<Option<u64>> {
        match self.host.kv_swap(key, expected, &serde_json::to_vec(value)?)? {
            KvSwap::Swapped(version) => Ok(Some(version)),
            KvSwap::Differs(_) => Ok(None),
        }
    }

    /// Reads, changes, writes; again when somebody else wrote meanwhile. `change` gets none where nothing is, and answers
    /// none to leave things as they are.
    pub fn update<T: Serialize + DeserializeOwned>(&self, key: &str, mut change: impl FnMut(Option<T>) -> Result<Option<T>>) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let (value, version) = self.get::<T>(key)?.map_or((None, None), |v| (Some(v.value), Some(v.version)));
            let Some(changed) = change(value)? else { return Ok(()) };
            if self.swap(key, version, &changed)?.is_some() {
                return Ok(());
            }
        }
        Err(DriverError::busy(format!("`{key}` is being changed by too many calls")))
    }

    /// True: something was there.
    pub fn delete(&self, key: &str) -> Result<bool> {
        Ok(self.host.kv_delete(key, None)?)
    }

    /// Everything whose key begins with `prefix`, in the order of the keys, page by page.
    pub fn each<T: DeserializeOwned>(&self, prefix: &str, mut visit: impl FnMut(&str, T) -> Result<()>) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.host.kv_scan(prefix, after.as_deref(), 1_000)?;
            for item in &page {
                visit(&item.key, serde_json::from_slice(&item.entry.value)?)?;
            }
            match page.into_iter().last() {
                Some(last) => after = Some(last.key),
                None => return Ok(()),
            }
        }
    }
}

/// Values in memory, one set a back end and process.
#[derive(Clone, Copy)]
pub struct Session<'c> {
    host: &'c dyn Host,
}

impl<'c> Session<'c> {
    pub(crate) fn new(host: &'c dyn Host) -> Self {
        Self { host }
    }

    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Versioned<T>>> {
        let Some(entry) = self.host.session_get(key) else { return Ok(None) };
        Ok(Some(Versioned { value: serde_json::from_slice(&entry.value)?, version: entry.version }))
    }

    /// `ttl` none: until the next reload.
    pub fn put<T: Serialize>(&self, key: &str, value: &T, ttl: Option<Duration>) -> Result<u64> {
        Ok(self.host.session_put(key, &serde_json::to_vec(value)?, ttl.map(millis))?)
    }

    /// Writes if the version is still `expected`. None: it is not.
    pub fn swap<T: Serialize>(&self, key: &str, expected: Option<u64>, value: &T, ttl: Option<Duration>) -> Result<Option<u64>> {
        match self.host.session_swap(key, expected, &serde_json::to_vec(value)?, ttl.map(millis))? {
            SessionSwap::Swapped(version) => Ok(Some(version)),
            SessionSwap::Differs(_) => Ok(None),
        }
    }

    pub fn delete(&self, key: &str) {
        self.host.session_delete(key);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
