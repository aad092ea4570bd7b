//! One run of `qemu-img`: started with nothing of our environment, watched, and ended as a whole group.

use std::{io::ErrorKind, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child as Process, ChildStdin, Command},
    time::timeout,
};

use super::{super::CopyError, guard};
use crate::{config::CopyConfig, program};

/// Of what the program says last, this much is kept.
const WORDS: usize = 600;
/// What it says when it lacks its iSCSI part.
const NO_MODULE: &str = "Unknown driver 'iscsi'";

/// A running program. When it is dropped, it and whatever it started have ended.
pub struct Child {
    program: String,
    process: Process,
    /// As long as it is held, the guard lets the program run.
    _alive: Option<ChildStdin>,
}

/// It ended without success, or did not go on.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub error: CopyError,
}

impl From<Ended> for CopyError {
    fn from(ended: Ended) -> Self {
        ended.error
    }
}

impl Child {
    /// # Errors
    /// [`CopyError::Missing`], [`CopyError::Failed`].
    pub fn start(config: &CopyConfig, arguments: &[String]) -> Result<Self, CopyError> {
        let program = config.program.display().to_string();
        let mut command = match program::again() {
            Some(exe) => {
                let mut command = Command::new(exe);
                command.arg(guard::SUBCOMMAND).arg(&config.program).stdin(Stdio::piped());
                command
            }
            None => {
                let mut command = Command::new(&config.program);
                command.stdin(Stdio::null());
                command
            }
        };
        command.args(arguments).env_clear().envs(environment(config)).process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|e| not_started(&program, &e))?;
        let alive = process.stdin.take();
        Ok(Self { program, process, _alive: alive })
    }

    /// Waits for its end. `patience`: how long it may say nothing new.
    ///
    /// # Errors
    /// [`Ended`].
    pub async fn finish(mut self, patience: Duration, progress: impl Fn(u8)) -> Result<(), Ended> {
        let (out, err) = (self.process.stdout.take(), self.process.stderr.take());
        // both to their ends: a full pipe would stop the program. One that stands still ends the wait for its last words, too
        let watched = async { tokio::try_join!(follow(out, patience, &progress), async { Ok(tail(err).await) }) };
        let said = match watched.await {
            Ok(((), said)) => said,
            Err(Silent) => return Err(Ended { status: None, error: CopyError::Stalled(patience) }),
        };
        let status = match timeout(patience, self.process.wait()).await {
            Ok(Ok(status)) if status.success() => return Ok(()),
            Ok(Ok(status)) => status,
            Ok(Err(e)) => return Err(Ended { status: None, error: self.failed(e.to_string(), said) }),
            Err(_) => return Err(Ended { status: None, error: CopyError::Stalled(patience) }),
        };
        let missing = status.code() == Some(guard::NOT_FOUND) || said.contains(NO_MODULE);
        let error = if missing {
            CopyError::Missing { program: self.program.clone(), reason: said }
        } else {
            self.failed(status.to_string(), said)
        };
        Err(Ended { status: status.code(), error })
    }

    fn failed(&self, status: String, said: String) -> CopyError {
        CopyError::Failed { program: self.program.clone(), status, said }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // only as long as it was not waited for is the number its own
        if let Some(pid) = self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            let _gone = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// A machine that has no room for one more process now may have it later.
fn not_started(program: &str, e: &std::io::Error) -> CopyError {
    let (program, said) = (program.to_owned(), e.to_string());
    match e.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => CopyError::Missing { program, reason: said },
        _ => CopyError::Failed { program, status: "no process".to_owned(), said },
    }
}

/// What the program sees of its surroundings.
pub fn environment(config: &CopyConfig) -> Vec<(&'static str, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let mut all = vec![("PATH", PathBuf::from(path)), ("LC_ALL", PathBuf::from("C"))];
    if !config.module_dir.as_os_str().is_empty() {
        all.push(("QEMU_MODULE_DIR", config.module_dir.clone()));
    }
    all
}

/// It says nothing new.
struct Silent;

/// Reads the percentages up to the end of the output.
async fn follow(out: Option<impl AsyncRead + Unpin>, patience: Duration, progress: &impl Fn(u8)) -> Result<(), Silent> {
    let Some(mut out) = out else { return Ok(()) };
    let (mut bytes, mut line) = ([0; 1024], Vec::new());
    loop {
        let read = match timeout(patience, out.read(&mut bytes)).await {
            Err(_) => return Err(Silent),
            Ok(Ok(0) | Err(_)) => return Ok(()),
            Ok(Ok(read)) => read,
        };
        for byte in &bytes[..read] {
            if matches!(byte, b'\r' | b'\n') {
                if let Some(percent) = percent(&String::from_utf8_lossy(&line)) {
                    progress(percent);
                }
                line.clear();
            } else if line.len() < WORDS {
                line.push(*byte);
            }
        }
    }
}

/// `    (12.34/100%)`
fn percent(line: &str) -> Option<u8> {
    let number: f64 = line.trim().strip_prefix('(')?.strip_suffix("/100%)")?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let percent = number.clamp(0.0, 100.0) as u8;
    Some(percent)
}

/// The last words.
async fn tail(err: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut err) = err else { return String::new() };
    let (mut bytes, mut kept) = ([0; 1024], Vec::new());
    while let Ok(read @ 1..) = err.read(&mut bytes).await {
        kept.extend_from_slice(&bytes[..read]);
        let over = kept.len().saturating_sub(WORDS);
        kept.drain(..over);
    }
    String::from_utf8_lossy(&kept).trim().replace('\n', "; ")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Mutex};

    use super::*;

    fn program(folder: &Path, script: &str) -> CopyConfig {
        let path = folder.join("program");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        CopyConfig { program: path, ..CopyConfig::default() }
    }

    #[test]
    fn progress_is_read_as_qemu_img_writes_it() {
        assert_eq!(percent("    (12.34/100%)"), Some(12));
        assert_eq!(percent("    (100.00/100%)"), Some(100));
        assert_eq!(percent("Images are identical."), None);
    }

    #[tokio::test]
    async fn a_program_is_followed_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), r"printf '    (1.00/100%%)\r    (50.00/100%%)\r    (100.00/100%%)\r\n'");
        let seen = Mutex::new(Vec::new());
        Child::start(&config, &[]).unwrap().finish(Duration::from_secs(30), |p| seen.lock().unwrap().push(p)).await.unwrap();
        assert_eq!(*seen.lock().unwrap(), [1, 50, 100]);
    }

    #[tokio::test]
    async fn its_last_words_are_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), "echo 'cannot reach it' >&2; exit 3");
        let ended = Child::start(&config, &[]).unwrap().finish(Duration::from_secs(30), |_| {}).await.unwrap_err();
        assert_eq!(ended.status, Some(3));
        assert!(ended.error.to_string().contains("cannot reach it"), "{}", ended.error);
    }

    #[tokio::test]
    async fn a_missing_program_and_a_missing_module_say_what_to_install() {
        let folder = tempfile::tempdir().unwrap();
        let none = CopyConfig { program: folder.path().join("none"), ..CopyConfig::default() };
        assert!(matches!(Child::start(&none, &[]), Err(CopyError::Missing { .. })));
        let config = program(folder.path(), "echo \"qemu-img: Could not open 'x': Unknown driver 'iscsi'\" >&2; exit 1");
        let ended = Child::start(&config, &[]).unwrap().finish(Duration::from_secs(30), |_| {}).await.unwrap_err();
        assert!(ended.error.to_string().starts_with("operator: install qemu-utils with the iscsi module"), "{}", ended.error);
    }

    #[tokio::test]
    async fn one_that_stands_still_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), "exec sleep 600");
        let ended = Child::start(&config, &[]).unwrap().finish(Duration::from_millis(50), |_| {}).await.unwrap_err();
        assert!(matches!(ended.error, CopyError::Stalled(_)));
    }

    #[tokio::test]
    async fn what_is_dropped_ends_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), "sleep 600 & echo $! >\"$1.new\"; mv \"$1.new\" \"$1\"; wait");
        let note = folder.path().join("pid");
        let child = Child::start(&config, &[note.display().to_string()]).unwrap();
        while !note.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let started = fs::read_to_string(&note).unwrap().trim().to_owned();
        drop(child);
        let gone = || fs::read_to_string(format!("/proc/{started}/stat")).map_or(true, |s| s.contains(") Z "));
        while !gone() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
