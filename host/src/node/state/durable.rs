//! Replacing a small file so that a kill or a power cut leaves the old or the new content, never a part.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Write},
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
    /// The old content is in place then: put back when only the last sync failed, since the caller goes on from the old one.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let fail = |e| Refusal::io(format_args!("cannot write {}", path.display()), e);
        let before = match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(fail(e)),
        };
        self.put(name, bytes).map_err(fail)?;
        let Err(e) = self.handle.sync_all() else { return Ok(()) };
        let undone = match before {
            Some(bytes) => self.put(name, &bytes),
            None => fs::remove_file(&path),
        };
        if let Err(e) = undone {
            tracing::error!(file = %path.display(), error = %e, "a record that was not promised stays in place");
        }
        Err(fail(e))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let beside = self.path.join(format!("{name}{UNFINISHED}"));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&beside, self.path.join(name))
        })();
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// # Errors
    /// When the file is there and cannot be removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Refusal::io(self.path.join(name).display(), e)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_sync_of_the_folder_leaves_the_old_content() {
        let dir = tempfile::tempdir().unwrap();
        // a device cannot be synced
        let folder = Folder { path: dir.path().to_owned(), handle: File::open("/dev/null").unwrap() };
        folder.replace("a", b"new").unwrap_err();
        assert!(!dir.path().join("a").exists());
        fs::write(dir.path().join("a"), "old").unwrap();
        folder.replace("a", b"new").unwrap_err();
        assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"old");
    }
}
