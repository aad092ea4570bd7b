//! The node's own truth: one JSON record an object, under `state/`.
//!
//! Invariants: a record is replaced as a whole (`durable`), so that a kill leaves the old one or the new one; memory holds what
//! the files hold, but for an attachment that is being taken away, which leaves memory first and the file after it is gone from
//! tgt; a deleted object's record stays as a tombstone, so that a late call of a lower generation is still refused.
//! On failure: a record that cannot be read stops the start, since guessing would lose a volume.

mod ballast;
mod durable;
mod record;
mod table;

use std::{path::Path, sync::Arc};

use serde::{Deserialize, Serialize};

pub use ballast::Ballast;
pub use durable::{Folder, private_folder};
pub use record::{Asked, Attachment, Phase, Record, Snapshot, Source, Volume};
pub use table::Table;

use super::refusal::{Refusal, Result};

/// All records.
#[derive(Debug)]
pub struct Records {
    /// Made at the first start.
    pub node_id: String,
    pub ballast: Arc<Ballast>,
    pub volumes: Table<Volume>,
    pub snapshots: Table<Snapshot>,
}

#[derive(Serialize, Deserialize)]
struct NodeRecord {
    id: String,
}

impl Records {
    /// Reads all records; makes the folders at the first start.
    ///
    /// # Errors
    /// `internal`, naming the file that cannot be read.
    pub fn open(folder: &Path) -> Result<Self> {
        private_folder(folder)?;
        let ballast = Arc::new(Ballast::of(folder));
        if let Err(e) = ballast.fill() {
            tracing::warn!(error = %e, "no room is kept for deletes");
        }
        Ok(Self {
            node_id: node_id(folder)?,
            volumes: Table::open(&folder.join(Volume::FOLDER), Arc::clone(&ballast))?,
            snapshots: Table::open(&folder.join(Snapshot::FOLDER), Arc::clone(&ballast))?,
            ballast,
        })
    }
}

fn node_id(folder: &Path) -> Result<String> {
    let path = folder.join("node.json");
    match std::fs::read(&path) {
        Ok(bytes) => {
            let record: NodeRecord = serde_json::from_slice(&bytes)
                .map_err(|e| Refusal::internal(format!("{} is no record of a node: {e}", path.display())).because(e))?;
            Ok(record.id)
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let id = uuid::Uuid::new_v4().simple().to_string()[..12].to_owned();
            let bytes = serde_json::to_vec(&NodeRecord { id: id.clone() }).map_err(|e| Refusal::internal(e.to_string()))?;
            Folder::open(folder)?.replace("node.json", &bytes)?;
            Ok(id)
        }
        Err(e) => Err(Refusal::io(path.display(), e)),
    }
}
