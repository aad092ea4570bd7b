//! `lock`: locks that span the processes of the cluster, held by one call.
//!
//! Invariants: a lock is a lease in the database that the host renews while the call runs; what a call still holds is
//! given back when it ends, however it ends; when a lease could not be renewed in time, the call loses its right to act
//! (its own lease is lost), so that two holders never both send.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{task::JoinHandle, time::Instant};

use super::keys::is_key;
use crate::{
    clock::micros,
    jobs::Lease,
    store::{StoreError, sql::driver_kv::DriverDb},
};

/// How long a lease lasts without renewal.
const LEASE: Duration = Duration::from_secs(30);
const RENEW: Duration = Duration::from_secs(8);
const MAX_HELD: usize = 16;
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("somebody else holds it")]
    Timeout,
    #[error("this call holds it already")]
    Held,
    #[error("a name is 1 to 255 bytes of printable ASCII")]
    InvalidName,
    #[error("a call holds at most 16 locks")]
    TooMany,
    #[error("the store did not answer")]
    Unavailable(#[from] StoreError),
    #[error("this process no longer owns the work")]
    NotOwner,
}

struct Shared {
    db: DriverDb,
    backend: String,
    owner: String,
    /// Lost for this call alone when a lock was lost.
    lease: Lease,
    /// Whatever may stand in the database under our owner; true where it is known to.
    names: Mutex<BTreeMap<String, bool>>,
}

/// The locks of one call. Dropping it gives back what is held.
pub struct CallLocks {
    shared: Arc<Shared>,
    renewer: Mutex<Option<JoinHandle<()>>>,
}

impl CallLocks {
    /// `owner` is unique to the call; `lease` is the call's own.
    pub fn new(db: DriverDb, backend: impl Into<String>, owner: impl Into<String>, lease: Lease) -> Self {
        let shared = Shared { db, backend: backend.into(), owner: owner.into(), lease, names: Mutex::default() };
        Self { shared: Arc::new(shared), renewer: Mutex::default() }
    }

    /// Takes a lock, waiting for at most `wait` and never past `deadline`.
    ///
    /// # Errors
    /// [`LockError`].
    pub async fn acquire(&self, name: &str, wait: Duration, deadline: Instant) -> Result<(), LockError> {
        if !is_key(name) {
            return Err(LockError::InvalidName);
        }
        let s = &self.shared;
        if s.lease.is_cancelled() {
            return Err(LockError::NotOwner);
        }
        {
            let mut names = s.names();
            if names.get(name) == Some(&true) {
                return Err(LockError::Held);
            }
            if names.len() >= MAX_HELD && !names.contains_key(name) {
                return Err(LockError::TooMany);
            }
            names.insert(name.to_owned(), false);
        }
        let until = deadline.min(Instant::now() + wait);
        let taken = self.take(name, until).await;
        match &taken {
            Ok(()) => {
                s.names().insert(name.to_owned(), true);
                self.renew();
            }
            // an unanswered attempt may have been carried out: the name stays with us and is released with the rest
            Err(LockError::Unavailable(_)) => {}
            Err(_) => {
                s.names().remove(name);
            }
        }
        taken
    }

    async fn take(&self, name: &str, until: Instant) -> Result<(), LockError> {
        let s = &self.shared;
        let mut pause = FIRST_PAUSE;
        loop {
            if s.lease.is_cancelled() {
                return Err(LockError::NotOwner);
            }
            if s.db.lock_acquire(&s.backend, name, &s.owner, micros(LEASE)).await? {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(LockError::Timeout);
            }
            tokio::select! {
                () = s.lease.cancelled() => return Err(LockError::NotOwner),
                () = tokio::time::sleep_until(until.min(Instant::now() + pause)) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Gives a lock back. One that this call does not hold: nothing happens.
    pub async fn release(&self, name: &str) {
        if self.shared.names().remove(name).is_none() {
            return;
        }
        let s = &self.shared;
        if let Err(error) = s.db.lock_release(&s.backend, name, &s.owner).await {
            tracing::warn!(backend = %s.backend, lock = name, %error, "a driver's lock could not be released; it ends with its lease");
        }
    }

    /// Starts the renewal with the first lock.
    fn renew(&self) {
        let mut renewer = self.renewer.lock().unwrap_or_else(PoisonError::into_inner);
        if renewer.is_none() {
            *renewer = Some(tokio::spawn(renew(self.shared.clone())));
        }
    }
}

impl Shared {
    fn names(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, bool>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn renew(s: Arc<Shared>) {
    let mut good_until = Instant::now() + LEASE;
    loop {
        tokio::time::sleep(RENEW).await;
        if s.lease.is_cancelled() {
            return; // the work is another's, and so are its locks
        }
        let begun = Instant::now();
        let names: Vec<String> = s.names().iter().filter(|(_, held)| **held).map(|(name, _)| name.clone()).collect();
        let mut all = true;
        for name in &names {
            match s.db.lock_acquire(&s.backend, name, &s.owner, micros(LEASE)).await {
                Ok(true) => {}
                // not ours any more, unless the call has just released it
                Ok(false) if s.names().contains_key(name) => return s.lost(name),
                Ok(false) => {}
                Err(_) => all = false,
            }
            // released while we renewed: our row must not stay
            if !s.names().contains_key(name) && s.db.lock_release(&s.backend, name, &s.owner).await.is_err() {
                all = false;
            }
        }
        if all {
            good_until = begun + LEASE;
        } else if Instant::now() + RENEW >= good_until {
            return s.lost(names.first().map_or("", String::as_str));
        }
    }
}

impl Shared {
    fn lost(&self, name: &str) {
        tracing::warn!(backend = %self.backend, lock = name, "a driver's lock was lost; its call ends");
        self.lease.lose();
    }
}

impl Drop for CallLocks {
    fn drop(&mut self) {
        let renewer = self.renewer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(renewer) = &renewer {
            renewer.abort();
        }
        if self.shared.names().is_empty() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let s = self.shared.clone();
        runtime.spawn(async move {
            // a renewal in flight must not come after the release
            if let Some(renewer) = renewer {
                let _ended = renewer.await;
            }
            if let Err(error) = s.db.lock_release_all(&s.backend, &s.owner).await {
                tracing::warn!(backend = %s.backend, %error, "a driver's locks could not be released; they end with their lease");
            }
        });
    }
}
