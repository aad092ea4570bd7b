//! Files with a password in them, for as long as a program may read it.
//!
//! They lie in a folder that only this user can enter, under the number of the process that made them: what a killed process
//! left behind is removed at the next start.

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use tempfile::NamedTempFile;

use super::super::CopyError;

/// A file with a secret; gone when it is dropped.
pub struct SecretFile(NamedTempFile);

impl SecretFile {
    /// # Errors
    /// [`CopyError::Prepare`].
    pub fn new(folder: &Path, secret: &str) -> Result<Self, CopyError> {
        let written = || -> io::Result<Self> {
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
            let mut file = tempfile::Builder::new()
                .prefix(&format!("{}-", std::process::id()))
                .permissions(Permissions::from_mode(0o600))
                .tempfile_in(folder)?;
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

/// Removes what processes that are no more left in `folder`.
pub fn forget_left_over(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|n| n.split_once('-')).and_then(|(pid, _)| pid.parse::<u32>().ok());
        let alive = maker.is_some_and(|pid| pid != std::process::id() && lives(pid));
        if maker.is_some() && !alive {
            let _gone = fs::remove_file(entry.path());
        }
    }
}

/// A process that has ended and was not waited for lives no more.
fn lives(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_goes_and_what_a_living_one_needs_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (dead, alive, other) = (folder.path().join("4194305-x"), folder.path().join("1-x"), folder.path().join("notes"));
        for path in [&dead, &alive, &other] {
            fs::write(path, "").unwrap();
        }
        forget_left_over(folder.path());
        assert!(!dead.exists() && alive.exists() && other.exists());
    }

    #[test]
    fn who_has_ended_and_was_not_waited_for_needs_nothing() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(lives(child.id()));
        child.kill().unwrap();
        let ended = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            !lives(child.id())
        });
        assert!(ended);
        child.wait().unwrap();
    }
}
