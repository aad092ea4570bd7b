//! A storage array outside the service: what crash and fencing tests compare the service's database with.
//!
//! It is an HTTP server with objects of its own (`state`), which `memory.wasm` drives when its option `array_url` is set.
//! It runs as a task of the test ([`Array::start`]) or, where the test kills things, as a process of its own
//! ([`Array::spawn`]). Both forms are inspected and disturbed through [`Control`], so a test does not care which it has.
//!
//! Invariants: an object exists once per (kind, id); a call of a lower generation than one already seen for its object
//! changes nothing; every call is recorded before it is answered, also when its answer is then dropped.

pub mod control;
pub mod faults;
pub mod server;
pub mod state;

use std::{path::Path, process::Stdio};

use anyhow::Context as _;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
    task::JoinHandle,
};

pub use control::Control;
pub use faults::{Action, Fault};
pub use state::{Call, Object};

/// A running array. Dropping it ends it.
pub struct Array {
    pub control: Control,
    running: Running,
}

enum Running {
    Task(JoinHandle<()>),
    Process(Box<Child>),
}

impl Array {
    /// Runs the array as a task of this process, on a free port of the loopback interface.
    pub async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = server::Shared::new(None)?;
        let task = tokio::spawn(async move { server::serve(listener, shared).await });
        Ok(Self { control: Control::new(&url), running: Running::Task(task) })
    }

    /// Runs the array as a process: `binary` is `env!("CARGO_BIN_EXE_fixture-array")`. With `state`, its objects live in
    /// that file, so that the array itself can be killed and started again.
    pub async fn spawn(binary: &str, state: Option<&Path>) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        if let Some(state) = state {
            command.arg("--state").arg(state);
        }
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true).spawn().context("start fixture-array")?;
        let stdout = child.stdout.take().context("fixture-array has no standard output")?;
        let line = BufReader::new(stdout).lines().next_line().await?.context("fixture-array ended before it listened")?;
        let url = line.strip_prefix("listening on ").with_context(|| format!("fixture-array said {line:?}"))?;
        Ok(Self { control: Control::new(url), running: Running::Process(Box::new(child)) })
    }

    /// What goes into the driver's option `array_url`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.control.url
    }

    /// The array's process id, when it is a process.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match &self.running {
            Running::Task(_) => None,
            Running::Process(child) => child.id(),
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Task(task) => task.abort(),
            Running::Process(child) => drop(child.start_kill()),
        }
    }
}
