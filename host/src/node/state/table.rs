//! All records of one kind: read once at the start, then served from memory; written through.

use std::{
    collections::BTreeMap,
    fs,
    ops::Bound,
    path::Path,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use super::{
    ballast::Ballast,
    durable::{Folder, UNFINISHED, private_folder},
    record::Record,
};
use crate::node::{
    name::ObjectId,
    refusal::{Kind, Refusal, Result},
};

type Rows<R> = BTreeMap<ObjectId, Arc<R>>;

/// Callers hold the object's lock from reading a record to replacing it.
#[derive(Debug)]
pub struct Table<R> {
    folder: Arc<Folder>,
    ballast: Arc<Ballast>,
    rows: RwLock<Rows<R>>,
}

impl<R: Record> Table<R> {
    /// # Errors
    /// `internal`, naming the file that is no record.
    pub fn open(path: &Path, ballast: Arc<Ballast>) -> Result<Self> {
        private_folder(path)?;
        let mut rows = Rows::new();
        for entry in fs::read_dir(path).map_err(|e| Refusal::io(path.display(), e))? {
            let file = entry.map_err(|e| Refusal::io(path.display(), e))?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(UNFINISHED) {
                fs::remove_file(&file).map_err(|e| Refusal::io(file.display(), e))?;
                continue;
            }
            let Some(id) = name.strip_suffix(".json") else { continue };
            let bytes = fs::read(&file).map_err(|e| Refusal::io(file.display(), e))?;
            let record: R = serde_json::from_slice(&bytes)
                .map_err(|e| Refusal::internal(format!("{} is no record this version can read: {e}", file.display())).because(e))?;
            if record.id().as_str() != id {
                return Err(Refusal::internal(format!("{} is the record of {}", file.display(), record.id())));
            }
            rows.insert(record.id().clone(), Arc::new(record));
        }
        Ok(Self { folder: Arc::new(Folder::open(path)?), ballast, rows: RwLock::new(rows) })
    }

    fn rows(&self) -> RwLockReadGuard<'_, Rows<R>> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record, tombstones included.
    pub fn get(&self, id: &ObjectId) -> Option<Arc<R>> {
        self.rows().get(id).cloned()
    }

    /// Every record, tombstones included, as it is now.
    pub fn all(&self) -> Vec<Arc<R>> {
        self.rows().values().cloned().collect()
    }

    /// The first `limit` records that `keep` takes, after `after`.
    pub fn page(&self, after: Option<&ObjectId>, limit: usize, keep: impl Fn(&R) -> bool) -> Vec<Arc<R>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.rows().range((from, Bound::Unbounded)).map(|(_, r)| r).filter(|r| keep(r)).take(limit).cloned().collect()
    }

    /// Writes the record to disk, and after that to memory.
    ///
    /// # Errors
    /// `exhausted` or `internal`; the old record stands.
    pub async fn put(&self, record: R) -> Result<Arc<R>> {
        self.write(&record).await?;
        Ok(self.show(record))
    }

    /// As [`Table::put`], for what gives room back: the ballast makes way for it.
    ///
    /// # Errors
    /// As there.
    pub async fn put_freeing(&self, record: R) -> Result<Arc<R>> {
        match self.write(&record).await {
            Err(e) if e.kind == Kind::Exhausted && self.ballast.free() => {
                tracing::warn!("the file system is full; the room kept for deletes is used");
                self.write(&record).await?;
            }
            outcome => outcome?,
        }
        Ok(self.show(record))
    }

    /// Writes to disk only; [`Table::show`] follows.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub async fn write(&self, record: &R) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(record).map_err(|e| Refusal::internal(format!("a record cannot be written: {e}")))?;
        let (folder, name) = (Arc::clone(&self.folder), file_name(record.id()));
        super::super::blocking(move || folder.replace(&name, &bytes)).await
    }

    /// Puts the record into memory only.
    pub fn show(&self, record: R) -> Arc<R> {
        let record = Arc::new(record);
        self.rows.write().unwrap_or_else(PoisonError::into_inner).insert(record.id().clone(), Arc::clone(&record));
        record
    }

    /// Forgets a record for good.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub fn forget(&self, id: &ObjectId) -> Result<()> {
        self.folder.remove(&file_name(id))?;
        self.rows.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        Ok(())
    }
}

fn file_name(id: &ObjectId) -> String {
    format!("{id}.json")
}
