//! The process between this one and the program that copies: it ends the program when this process ends, however that ends.
//!
//! Its standard input is a pipe that only the parent holds. (A program that lost its iSCSI session would otherwise try to get
//! it back for ever.) Guard and program are one process group, so the parent ends both by one signal, and a Ctrl-C meant for
//! the service does not reach them.

use std::{
    ffi::OsString,
    io::ErrorKind,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

/// The hidden sub-command that [`child`] is behind: `stowage __copy PROGRAM ARGUMENTS`.
pub const SUBCOMMAND: &str = "__copy";
/// Exit status when the program is not there or may not be run, as shells have it.
pub const NOT_FOUND: i32 = 127;
/// Exit status when it could not be started or watched. Like those of signals (128 and more) it is none of the program's own:
/// a comparison that was killed is not one that found a difference.
const NOT_STARTED: u8 = 126;
const SIGNALLED: i32 = 128;
const NICE: i32 = 10;

/// Runs `program` to its end, or to this process's parent's.
pub fn child(program: &Path, arguments: &[OsString]) -> ExitCode {
    // best effort: a machine that refuses still copies
    let _nice = rustix::process::nice(NICE);
    let mut running = match Command::new(program).args(arguments).stdin(Stdio::null()).spawn() {
        Ok(running) => running,
        Err(e) => {
            let _said = std::io::Write::write_all(&mut std::io::stderr(), e.to_string().as_bytes());
            let missing = matches!(e.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
            return if missing { exit(NOT_FOUND) } else { ExitCode::from(NOT_STARTED) };
        }
    };
    let pid = i32::try_from(running.id()).ok().and_then(Pid::from_raw);
    let watch = move || {
        let _end = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        if let Some(pid) = pid {
            let _gone = kill_process(pid, Signal::KILL);
        }
        std::process::exit(NOT_STARTED.into());
    };
    if std::thread::Builder::new().name("parent".to_owned()).spawn(watch).is_err() {
        let _gone = running.kill();
        return ExitCode::from(NOT_STARTED);
    }
    match running.wait() {
        Ok(status) => exit(status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or_default())),
        Err(_) => ExitCode::from(NOT_STARTED),
    }
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(NOT_STARTED))
}
