//! Which back ends are loaded: host name to live incarnation.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;

use super::{
    backend::Backend,
    error::{DriverError, DriverResult},
};

/// The loaded back ends. Cheap to clone; reading takes no lock.
#[derive(Clone, Default)]
pub struct Catalog {
    live: Arc<ArcSwap<BTreeMap<String, Arc<Backend>>>>,
}

impl Catalog {
    /// The live incarnation of `stowage@name`; a pool behind `#` is ignored.
    ///
    /// # Errors
    /// [`ErrorKind::NotLoaded`](super::ErrorKind::NotLoaded).
    pub fn backend(&self, host: &str) -> DriverResult<Arc<Backend>> {
        let host = host.split('#').next().unwrap_or(host);
        self.live.load().get(host).cloned().ok_or_else(|| DriverError::not_loaded(host))
    }

    /// All of them, by host name.
    pub fn backends(&self) -> Vec<Arc<Backend>> {
        self.live.load().values().cloned().collect()
    }

    /// Takes a back end into service and gives back the incarnation it replaces. Calls in flight end on that one.
    pub fn insert(&self, backend: Arc<Backend>) -> Option<Arc<Backend>> {
        let host = backend.host.clone();
        let old = self.live.rcu(|live| {
            let mut next = BTreeMap::clone(live);
            next.insert(host.clone(), backend.clone());
            next
        });
        old.get(&host).cloned()
    }
}
