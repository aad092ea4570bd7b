//! One request at a time for one object; and one node at a time for one folder.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use rustix::fs::{FlockOperation, flock};
use tokio::sync::OwnedMutexGuard;

use super::{
    name::{ImportName, ObjectId},
    refusal::{Refusal, Result},
};

/// Locks by name, made when wanted.
#[derive(Debug, Default)]
pub struct Locks(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Locks {
    pub async fn volume(&self, id: &ObjectId) -> OwnedMutexGuard<()> {
        self.named(format!("volume/{id}")).await
    }
    pub async fn snapshot(&self, id: &ObjectId) -> OwnedMutexGuard<()> {
        self.named(format!("snapshot/{id}")).await
    }
    /// Taken after the volume's.
    pub async fn import(&self, name: &ImportName) -> OwnedMutexGuard<()> {
        self.named(format!("import/{name}")).await
    }

    async fn named(&self, name: String) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if locks.len() > 4096 {
                locks.retain(|_, lock| lock.strong_count() > 0);
            }
            let held = locks.get(&name).and_then(Weak::upgrade);
            held.unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(name, Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

/// Held as long as the node runs; the kernel gives it back also after a kill.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Whether a node runs on the folder. Makes nothing.
    pub fn is_held(folder: &Path) -> bool {
        let file = OpenOptions::new().write(true).open(folder.join("lock"));
        file.is_ok_and(|f| flock(&f, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK))
    }

    /// # Errors
    /// `busy` when another node runs on the folder.
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| Refusal::io(path.display(), e))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Refusal::busy(format!("another node runs on {}", folder.display()))),
            Err(e) => Err(Refusal::io(path.display(), e.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_second_holder_of_a_lock_waits_and_another_object_does_not() {
        let locks = Locks::default();
        let a = ObjectId::parse("a").unwrap();
        let held = locks.volume(&a).await;
        assert!(futures::poll!(std::pin::pin!(locks.volume(&a))).is_pending());
        assert!(futures::poll!(std::pin::pin!(locks.snapshot(&a))).is_ready());
        drop(held);
        locks.volume(&a).await;
    }

    #[test]
    fn a_folder_has_one_node() {
        let dir = tempfile::tempdir().unwrap();
        let held = FolderLock::take(dir.path()).unwrap();
        assert_eq!(FolderLock::take(dir.path()).unwrap_err().kind, crate::node::refusal::Kind::Busy);
        assert!(FolderLock::is_held(dir.path()));
        drop(held);
        assert!(!FolderLock::is_held(dir.path()));
        FolderLock::take(dir.path()).unwrap();
    }
}
