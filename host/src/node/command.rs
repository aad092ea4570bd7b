//! Other programs: never through a shell, never for longer than said, with our arguments only.

use std::{ffi::OsStr, process::Stdio, time::Duration};

use tokio::process::Command;

use super::refusal::{Refusal, Result};

/// Where system programs are, whatever PATH the node was started with.
const FOLDERS: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Where a program is.
pub fn find(program: &str) -> Option<std::path::PathBuf> {
    FOLDERS.iter().map(|f| std::path::Path::new(f).join(program)).find(|p| p.is_file())
}

/// Runs a program to its end.
///
/// # Errors
/// `internal` with the end of what it said, `unsupported` when it is not there.
pub async fn run<'a>(program: &str, arguments: impl IntoIterator<Item = &'a OsStr>, patience: Duration) -> Result<()> {
    let path = find(program).ok_or_else(|| {
        Refusal::new(
            super::refusal::Kind::Unsupported,
            format!("the program {program} is not installed; `stowage node --check` says what to do"),
        )
    })?;
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true).env_clear().env("LC_ALL", "C").env("PATH", FOLDERS.join(":"));
    let output = match tokio::time::timeout(patience, command.output()).await {
        Err(_) => return Err(Refusal::internal(format!("{program} did not end within {} s", patience.as_secs()))),
        Ok(Err(e)) => return Err(Refusal::io(format_args!("cannot run {program}"), e)),
        Ok(Ok(output)) => output,
    };
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.trim().chars().rev().take(500).collect::<Vec<_>>().into_iter().rev().collect();
    Err(Refusal::internal(format!("{program}: {} ({said})", output.status)))
}
