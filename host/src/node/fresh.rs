//! What a first start that is refused leaves: nothing.
//!
//! Only a folder that was absent or empty when this start took its lock is emptied again: nobody can have anything in it. It is
//! called under the lock, and never while a file system is mounted in it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::disk::is_mount_point;

/// How the folder was found.
#[derive(Debug)]
pub struct Fresh {
    dir: PathBuf,
    /// The outermost folder that was not there.
    made: Option<PathBuf>,
}

impl Fresh {
    /// Before anything is made.
    pub fn look(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), made: dir.ancestors().take_while(|p| !p.exists()).last().map(Path::to_owned) }
    }

    /// With the lock held: whether the lock is all there is.
    pub fn is_first_start(&self) -> bool {
        fs::read_dir(&self.dir).is_ok_and(|entries| entries.flatten().all(|e| e.file_name() == "lock"))
    }

    /// Removes what this first start made. What cannot be removed stays, and is logged.
    pub fn undo(&self) {
        let data = self.dir.join("data");
        if data.exists() && !is_mount_point(&data).is_ok_and(|mounted| !mounted) {
            return;
        }
        let outcome = match &self.made {
            Some(made) => fs::remove_dir_all(made),
            None => empty(&self.dir),
        };
        if let Err(e) = outcome {
            tracing::warn!(dir = %self.dir.display(), error = %e, "what the refused start made is not all removed");
        }
    }
}

fn empty(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_in(dir: &Path) {
        fs::create_dir_all(dir.join("data/volumes")).unwrap();
        fs::write(dir.join("lock"), "").unwrap();
        fs::write(dir.join("token"), "t").unwrap();
    }

    #[test]
    fn a_folder_that_was_absent_goes_with_those_made_above_it() {
        let around = tempfile::tempdir().unwrap();
        let dir = around.path().join("a/b");
        let fresh = Fresh::look(&dir);
        made_in(&dir);
        fresh.undo();
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_was_empty_is_empty_again() {
        let dir = tempfile::tempdir().unwrap();
        let fresh = Fresh::look(dir.path());
        fs::write(dir.path().join("lock"), "").unwrap();
        assert!(fresh.is_first_start());
        made_in(dir.path());
        fresh.undo();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_with_anything_in_it_is_no_first_start() {
        let dir = tempfile::tempdir().unwrap();
        made_in(dir.path());
        assert!(!Fresh::look(dir.path()).is_first_start());
    }
}
