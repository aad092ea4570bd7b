//! Replacing a small file so that a kill or a power cut leaves the old or the new content, never a part.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::node::refusal::{Refusal, Result};

/// What a file that is being written is called until it is whole.
pub(super) const UNFINISHED: &str = ".new";

/// A folder whose files are replaced.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    handle: File,
}

impl Folder {
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let handle = File::open(path).map_err(|e| Refusal::io(path.display(), e))?;
        Ok(Self { path: path.to_owned(), handle })
    }

    /// Writes beside, syncs, renames, syncs the folder. Blocks. Only the owner may read the file.
    ///
    /// # Errors
    /// The old content is in place then, unless only the last sync failed.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let fail = |e| Refusal::io(format_args!("cannot write {}", self.path.join(name).display()), e);
        let beside = self.path.join(format!("{name}{UNFINISHED}"));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&beside, self.path.join(name))
        })();
        if let Err(e) = written {
            let _ = fs::remove_file(&beside);
            return Err(fail(e));
        }
        self.handle.sync_all().map_err(fail)
    }

    /// # Errors
    /// When the file is there and cannot be removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Refusal::io(self.path.join(name).display(), e)),
            _ => Ok(()),
        }
    }
}

/// Makes a folder that only its owner may look into, unless it is there.
///
/// # Errors
/// When it cannot be made.
pub fn private_folder(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| Refusal::io(format_args!("cannot make {}", path.display()), e))
}
