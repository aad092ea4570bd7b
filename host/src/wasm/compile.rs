//! From a component to machine code.
//!
//! It takes seconds of CPU for a Python driver, so it runs in a niced child process of our own binary: calls to other
//! drivers do not feel it, and a compiler that runs wild or dies takes nothing with it. Where there is no binary to start
//! (tests) it runs on a thread of this process.
//!
//! The child has a process group of its own, so that a Ctrl-C meant for the service does not end it in the middle and look
//! like a bad driver. It ends with its parent, however that ends: its standard input is a pipe that only the parent holds.

use std::{
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    time::Duration,
};

use thiserror::Error;
use wasmtime::Engine;

use super::engine;
use crate::program;

/// The hidden sub-command that [`child`] is behind: `stowage __compile-component IN OUT`.
pub const SUBCOMMAND: &str = "__compile-component";
const TIMEOUT: Duration = Duration::from_secs(300);
const NICE: i32 = 10;

#[derive(Debug, Error)]
pub enum CompileError {
    /// The bytes are no valid component.
    #[error("it does not compile: {0}")]
    Refused(String),
    #[error("the compiler did not finish within {} s", TIMEOUT.as_secs())]
    Timeout,
    #[error("the compiler could not run: {0}")]
    Failed(String),
}

/// Where to compile.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// A niced child: this binary.
    Child(PathBuf),
    InProcess,
}

impl Compiler {
    /// The running binary, if it is ours.
    pub fn current() -> Self {
        program::again().map_or(Self::InProcess, Self::Child)
    }

    /// Compiles for engines with the settings of [`engine`].
    ///
    /// # Errors
    /// [`CompileError`].
    pub async fn compile(&self, bytes: &[u8]) -> Result<Vec<u8>, CompileError> {
        match self {
            Self::Child(exe) => in_child(exe, bytes).await,
            Self::InProcess => {
                let bytes = bytes.to_vec();
                tokio::task::spawn_blocking(move || compile_here(&bytes)).await.map_err(|e| CompileError::Failed(e.to_string()))?
            }
        }
    }
}

fn compile_here(bytes: &[u8]) -> Result<Vec<u8>, CompileError> {
    let engine: Engine = engine::compiling().map_err(|e| CompileError::Failed(e.to_string()))?;
    engine.precompile_component(bytes).map_err(|e| CompileError::Refused(format!("{e:#}")))
}

async fn in_child(exe: &Path, bytes: &[u8]) -> Result<Vec<u8>, CompileError> {
    let failed = |e: std::io::Error| CompileError::Failed(e.to_string());
    let folder = tempfile::Builder::new().prefix("stowage-compile-").tempdir().map_err(failed)?;
    let (input, output) = (folder.path().join("in.wasm"), folder.path().join("out.cwasm"));
    tokio::fs::write(&input, bytes).await.map_err(failed)?;
    let mut child = tokio::process::Command::new(exe)
        .arg(SUBCOMMAND)
        .args([&input, &output])
        .env_clear()
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    // held until it has ended; the wait would close it
    let _alive = child.stdin.take();
    let done = tokio::time::timeout(TIMEOUT, child.wait_with_output()).await.map_err(|_| CompileError::Timeout)?.map_err(failed)?;
    let words = || String::from_utf8_lossy(&done.stderr).trim().to_owned();
    match done.status.code() {
        Some(0) => tokio::fs::read(&output).await.map_err(failed),
        Some(status) if status == i32::from(REFUSED) => Err(CompileError::Refused(words())),
        _ => Err(CompileError::Failed(format!("{}: {}", done.status, words()))),
    }
}

const REFUSED: u8 = 2;

/// Ends this process when its standard input does, and leaves nothing behind that the parent would have removed.
fn end_with_parent(input: &Path, output: &Path) {
    let (input, output) = (input.to_owned(), output.to_owned());
    let wait = move || {
        let _end = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        for file in [&input, &output] {
            let _gone = std::fs::remove_file(file);
        }
        if let Some(folder) = input.parent() {
            // only when it is empty: then it was the parent's own for this
            let _gone = std::fs::remove_dir(folder);
        }
        std::process::exit(1);
    };
    // without the thread it compiles all the same
    let _thread = std::thread::Builder::new().name("parent".to_owned()).spawn(wait);
}

/// The child's work. Its exit status: 0 done, 2 the component is at fault, 1 anything else.
pub fn child(input: &Path, output: &Path) -> ExitCode {
    // best effort: a machine that refuses still compiles
    let _nice = rustix::process::nice(NICE);
    end_with_parent(input, output);
    let fault = |text: String, status: u8| {
        // the parent reads it from our standard error
        let _written = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
        ExitCode::from(status)
    };
    let bytes = match std::fs::read(input) {
        Ok(bytes) => bytes,
        Err(e) => return fault(format!("cannot read {}: {e}", input.display()), 1),
    };
    match compile_here(&bytes) {
        Ok(code) => match std::fs::write(output, code) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => fault(format!("cannot write {}: {e}", output.display()), 1),
        },
        Err(CompileError::Refused(text)) => fault(text, REFUSED),
        Err(e) => fault(e.to_string(), 1),
    }
}
