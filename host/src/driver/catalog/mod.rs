//! Which back ends are loaded: host name to live incarnation, and how one incarnation takes another's place.
//!
//! Two kinds of change come in, driver files ([`offer`]) and configuration ([`apply`]), one at a time. Each is prepared
//! beside the running service and swapped in only when it is known to work; readers take no lock and hold the incarnation
//! they began with, which drains. The turn to change something is never held across a call to a driver: whoever opened an
//! incarnation takes the turn, looks whether what it was opened for still holds, and swaps. So an array that hangs delays
//! its own back end only. Invariants: a change that is refused leaves what serves untouched, with the reason in
//! [`status`]; a back end that cannot be opened is down with a reason and is tried again ([`tend`]) while all others serve;
//! accepted bytes are in the database before they serve, so that every process follows and a deleted file loses nothing.

mod apply;
mod book;
mod embedded;
mod file;
mod follow;
mod hooks;
mod objection;
mod offer;
mod open;
mod start;
mod status;
mod swap;
mod tend;
mod uses;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;

use super::{
    backend::Backend,
    error::{DriverError, DriverResult, ErrorKind},
    loader::Loader,
};
use crate::store::{Store, StoreError};

pub use apply::{Applied, BackendChange, ChangeResult};
pub use embedded::embedded;
pub use hooks::Hooks;
pub use offer::{OfferResult, Offered};
pub use status::{BackendState, BackendStatus, DrainStatus, DriverState, DriverStatus, RefusedFile};
pub use uses::BackendUses;

/// What the catalog works with.
pub struct Parts {
    pub store: Store,
    pub loader: Arc<dyn Loader>,
    /// The part before `@` in host names.
    pub host: String,
    /// The plugin folder; made when absent.
    pub folder: PathBuf,
    /// Whether the folder is watched, and how long a file must lie still before it is read.
    pub watch: bool,
    pub settle: Duration,
    pub hooks: Vec<Arc<dyn Hooks>>,
}

/// Why the catalog cannot do its work at all. A bad driver or back end is none of these.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("the catalog of drivers has not been started")]
    NotStarted,
    #[error("the plugin folder {} cannot be used", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the database of drivers cannot be used")]
    Store(#[from] StoreError),
}

type Live = BTreeMap<String, Arc<Backend>>;

/// The loaded back ends. Cheap to clone; reading takes no lock.
#[derive(Clone, Default)]
pub struct Catalog {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    live: ArcSwap<Live>,
    book: Mutex<book::Book>,
    parts: OnceLock<Parts>,
    /// Held by whoever changes what serves, never across a call to a driver.
    turn: tokio::sync::Mutex<()>,
    /// One driver file at a time under each name: the second of two is compared with what the first became.
    files: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// One configuration at a time.
    applying: tokio::sync::Mutex<()>,
}

/// The turn to change what serves.
type Turn<'a> = tokio::sync::MutexGuard<'a, ()>;

impl Catalog {
    /// The live incarnation of `stowage@name`; a pool behind `#` is ignored.
    ///
    /// # Errors
    /// [`ErrorKind::NotLoaded`], with the reason if there is one.
    pub fn backend(&self, host: &str) -> DriverResult<Arc<Backend>> {
        let host = host.split('#').next().unwrap_or(host);
        if let Some(backend) = self.inner.live.load().get(host) {
            return Ok(backend.clone());
        }
        let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
        Err(match self.book().backends.get(name).and_then(|b| b.down.as_ref()) {
            Some(down) => DriverError::new(ErrorKind::NotLoaded, format!("{host} is down: {}", down.reason)),
            None => DriverError::not_loaded(host),
        })
    }

    /// All of them, by host name.
    pub fn backends(&self) -> Vec<Arc<Backend>> {
        self.inner.live.load().values().cloned().collect()
    }

    /// Takes a back end into service and gives back the incarnation it replaces. Calls in flight end on that one.
    pub fn insert(&self, backend: Arc<Backend>) -> Option<Arc<Backend>> {
        let host = backend.host.clone();
        let old = self.inner.live.rcu(|live| {
            let mut next = Live::clone(live);
            next.insert(host.clone(), backend.clone());
            next
        });
        old.get(&host).cloned()
    }

    /// Takes a back end out of service.
    fn remove(&self, host: &str) -> Option<Arc<Backend>> {
        let old = self.inner.live.rcu(|live| {
            let mut next = Live::clone(live);
            next.remove(host);
            next
        });
        old.get(host).cloned()
    }

    /// Waits until nobody else works on a driver's name.
    async fn alone_with(&self, driver: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = self.inner.files.lock().unwrap_or_else(PoisonError::into_inner).entry(driver.to_owned()).or_default().clone();
        lock.lock_owned().await
    }

    fn parts(&self) -> Result<&Parts, CatalogError> {
        self.inner.parts.get().ok_or(CatalogError::NotStarted)
    }

    fn book(&self) -> MutexGuard<'_, book::Book> {
        // whoever panicked left whole entries: each is written by one assignment
        self.inner.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
