//! Files with a password in them, for as long as a program may read it.
//!
//! They lie in a folder that only this user can enter. Whoever made one keeps it locked, and the lock ends with that process,
//! however it ends: an unlocked file is nobody's, and goes at the next start or copy of any process. (A process number says
//! less: it is given out again, and means another process in another container.)

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use rustix::fs::{FlockOperation, flock};
use tempfile::NamedTempFile;

use super::super::CopyError;

const PREFIX: &str = "secret-";
/// Nobody takes a file away more often than this while it is being made.
const ATTEMPTS: usize = 16;

/// A file with a secret; gone when it is dropped.
pub struct SecretFile(NamedTempFile);

impl SecretFile {
    /// # Errors
    /// [`CopyError::Prepare`].
    pub fn new(folder: &Path, secret: &str) -> Result<Self, CopyError> {
        let written = || -> io::Result<Self> {
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
            let mut file = locked(folder)?;
            file.write_all(secret.as_bytes())?;
            file.flush()?;
            Ok(Self(file))
        };
        written().map_err(|source| CopyError::Prepare { path: folder.to_owned(), source })
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A file of this process's. Between its making and its lock somebody may have taken it for left over: then another one.
fn locked(folder: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..ATTEMPTS {
        let file = tempfile::Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(0o600)).tempfile_in(folder)?;
        flock(file.as_file(), FlockOperation::LockExclusive)?;
        if is_at(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
    Err(io::Error::other("files vanish as soon as they are made"))
}

/// Whether the open file is the one that stands there.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |m: fs::Metadata| (m.dev(), m.ino());
    file.metadata().map(place).ok().is_some_and(|open| fs::metadata(path).map(place).is_ok_and(|there| there == open))
}

/// Removes what processes that are no more left in `folder`.
pub fn forget_left_over(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|e| e.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))) {
        let Ok(file) = File::open(entry.path()) else { continue };
        // held until it is gone: its maker, if it is only just being made, waits and sees
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _gone = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{process::Command, sync::atomic::AtomicBool};

    use super::*;

    #[test]
    fn what_nobody_holds_goes_and_what_somebody_holds_or_made_for_something_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let held = SecretFile::new(folder.path(), "hush").unwrap();
        let (left, other) = (folder.path().join("secret-left"), folder.path().join("notes"));
        for path in [&left, &other] {
            fs::write(path, "").unwrap();
        }
        forget_left_over(folder.path());
        assert!(!left.exists() && other.exists());
        assert_eq!(fs::read_to_string(held.path()).unwrap(), "hush");
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn what_another_process_holds_stays_until_that_has_been_killed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, held) = (folder.path().join("secret-theirs"), folder.path().join("held"));
        let script = r#"exec 9>"$1"; flock 9; touch "$2" 9>&-; exec sleep 60"#;
        let mut other = Command::new("sh").args(["-c", script, "sh"]).arg(&path).arg(&held).spawn().unwrap();
        while !held.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        forget_left_over(folder.path());
        assert!(path.exists());
        other.kill().unwrap();
        other.wait().unwrap();
        forget_left_over(folder.path());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_is_being_made_is_not_lost_to_somebody_who_clears_up() {
        let folder = tempfile::tempdir().unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    forget_left_over(folder.path());
                }
            });
            for n in 0..500 {
                let file = SecretFile::new(folder.path(), &n.to_string()).unwrap();
                assert_eq!(fs::read_to_string(file.path()).unwrap(), n.to_string());
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
