//! Room that is kept for records which give room back: tombstones and detaches must be writable on a full file system.
//!
//! A file of zeros that is allocated in full. It is removed when such a record does not fit, and made again when there is room.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{FallocateFlags, fallocate};

use crate::node::refusal::{Refusal, Result};

const BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub struct Ballast(PathBuf);

impl Ballast {
    pub(super) fn of(folder: &Path) -> Self {
        Self(folder.join("ballast"))
    }

    /// Makes it unless it is there. Blocks.
    ///
    /// # Errors
    /// `exhausted` while there is no room for it.
    pub fn fill(&self) -> Result<()> {
        if fs::metadata(&self.0).is_ok_and(|m| m.blocks() * 512 >= BYTES) {
            return Ok(());
        }
        let filled = (|| {
            let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&self.0)?;
            fallocate(&file, FallocateFlags::empty(), 0, BYTES)?;
            file.sync_all()
        })();
        filled.map_err(|e| {
            self.free();
            Refusal::io(self.0.display(), e)
        })
    }

    /// Gives the room to others. Whether there was any.
    pub(super) fn free(&self) -> bool {
        fs::remove_file(&self.0).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_its_room_gives_it_back_once_and_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let ballast = Ballast::of(dir.path());
        assert!(!ballast.free());
        ballast.fill().unwrap();
        ballast.fill().unwrap();
        assert!(fs::metadata(&ballast.0).unwrap().blocks() * 512 >= BYTES);
        assert!(ballast.free());
        assert!(!ballast.free());
        ballast.fill().unwrap();
    }
}
