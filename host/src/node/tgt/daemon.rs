//! Keeps one `tgtd` running: starts it, takes over one that outlived its node, starts another when it dies.
//!
//! A node that was killed leaves its `tgtd` running, and initiators go on reading and writing; the next node on the folder
//! finds it by its socket and takes it over, so that a restart of the node interrupts nothing. One that does not answer, or
//! listens elsewhere than configured, is replaced. Each time another daemon (or the same one, taken over) is in use a new
//! epoch begins; what is exported in it is the business of `export`. A node that ends in order ends its `tgtd`.

use std::{
    fs::{self, OpenOptions},
    net::SocketAddr,
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt},
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::{
    io::AsyncReadExt,
    net::UnixStream,
    process::{Child, Command},
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::call::Client;
use crate::node::{
    command,
    refusal::{Refusal, Result},
};

const START: Duration = Duration::from_secs(10);
const PING_EVERY: Duration = Duration::from_secs(5);
/// Unanswered pings in a row after which it is replaced. One takes up to 10 s.
const PINGS_MISSED: u32 = 3;
const LOG_LIMIT: u64 = 4 << 20;

#[derive(Debug, Clone)]
pub struct DaemonOptions {
    /// For the socket, the log, the process id.
    pub run: PathBuf,
    /// At least one.
    pub portals: Vec<SocketAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Down(String),
    Up {
        epoch: u64,
        /// It began empty; else it holds what an earlier node exported.
        fresh: bool,
    },
}

#[derive(Debug)]
pub struct Daemon {
    pub client: Client,
    options: DaemonOptions,
    socket: PathBuf,
    epoch: AtomicU64,
    state: watch::Sender<State>,
    replace: Notify,
}

enum Process {
    Ours(Box<Child>),
    /// The handle outlives the number; the line is an idle connection, which breaks when the daemon ends.
    Adopted(OwnedFd, UnixStream),
}

impl Daemon {
    /// # Errors
    /// `invalid` when the folder's path is too long for a socket.
    pub fn new(options: DaemonOptions) -> Result<Self> {
        // tgtd appends the control number
        let socket = options.run.join("tgtd.0");
        if socket.as_os_str().len() > 100 {
            return Err(Refusal::invalid(format!(
                "{} is too long for a socket's path (100 bytes); use a folder with a shorter path",
                socket.display()
            )));
        }
        let state = watch::Sender::new(State::Down("starting".to_owned()));
        Ok(Self { client: Client::new(&socket), options, socket, epoch: AtomicU64::new(0), state, replace: Notify::new() })
    }

    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// The epoch, and whether the daemon began empty.
    ///
    /// # Errors
    /// `transient` while there is no daemon.
    pub fn up(&self) -> Result<(u64, bool)> {
        match &*self.state.borrow() {
            State::Up { epoch, fresh } => Ok((*epoch, *fresh)),
            State::Down(why) => Err(Refusal::transient(format!("the iSCSI service is not up: {why}"))),
        }
    }

    /// Waits for an epoch after `epoch`.
    pub async fn later_than(&self, epoch: u64, patience: Duration) {
        let mut state = self.state.subscribe();
        let later = state.wait_for(|s| matches!(s, State::Up { epoch: e, .. } if *e > epoch));
        let _ = timeout(patience, later).await;
    }

    /// Ends this daemon and starts another: what it says cannot be believed.
    pub fn replace(&self) {
        self.replace.notify_one();
    }

    /// Runs until `stop`, then ends the daemon.
    pub async fn run(&self, stop: CancellationToken) {
        let mut pause = Duration::from_millis(50);
        let mut may_adopt = true;
        while !stop.is_cancelled() {
            let began = Instant::now();
            let begun = tokio::select! {
                () = stop.cancelled() => break,
                begun = self.begin(may_adopt) => begun,
            };
            may_adopt = false;
            let why = match begun {
                Err(e) => e.to_string(),
                Ok((mut process, fresh)) => {
                    let epoch = self.epoch.fetch_add(1, Ordering::Relaxed) + 1;
                    tracing::info!(epoch, fresh, portals = ?self.options.portals, "the iSCSI service is up");
                    self.state.send_replace(State::Up { epoch, fresh });
                    let why = tokio::select! {
                        () = stop.cancelled() => "the node is stopping",
                        () = process.ended() => "it ended",
                        () = self.replace.notified() => "what it shows cannot be understood",
                        () = self.silent() => "it does not answer",
                    };
                    self.state.send_replace(State::Down(why.to_owned()));
                    process.kill().await;
                    why.to_owned()
                }
            };
            if stop.is_cancelled() {
                break;
            }
            tracing::warn!(why, "the iSCSI service is down; it is started again");
            self.state.send_replace(State::Down(why));
            pause =
                if began.elapsed() > Duration::from_secs(10) { Duration::from_millis(50) } else { (pause * 2).min(Duration::from_secs(5)) };
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(pause) => {}
            }
        }
        self.state.send_replace(State::Down("the node is stopping".to_owned()));
        tracing::info!("the iSCSI service has ended");
    }

    async fn begin(&self, may_adopt: bool) -> Result<(Process, bool)> {
        if may_adopt && let Some(process) = self.adopt().await {
            return Ok((process, false));
        }
        self.end_predecessor().await;
        Ok((self.start().await?, true))
    }

    /// A daemon of an earlier node on this folder that is as this node wants it.
    async fn adopt(&self) -> Option<Process> {
        let line = UnixStream::connect(&self.socket).await.ok()?;
        let pid = Pid::from_raw(line.peer_cred().ok()?.pid()?)?;
        let handle = pidfd_open(pid, PidfdFlags::NONBLOCK).ok()?;
        self.client.ping().await.ok()?;
        let portals = self.client.portals().await.ok()?;
        let wanted: Vec<String> = self.options.portals.iter().map(SocketAddr::to_string).collect();
        if portals.len() != wanted.len() || !wanted.iter().all(|w| portals.contains(w)) {
            tracing::info!(?portals, ?wanted, "the iSCSI service of an earlier run listens elsewhere; it is replaced");
            return None;
        }
        if let Err(e) = self.client.show().await {
            tracing::warn!(error = %e, "the iSCSI service of an earlier run is replaced");
            return None;
        }
        tracing::info!(pid = pid.as_raw_nonzero(), "the iSCSI service of an earlier run is taken over");
        Some(Process::Adopted(handle, line))
    }

    /// Ends what an earlier node left: only a `tgtd` with our socket.
    async fn end_predecessor(&self) {
        let mut pids: Vec<i32> = fs::read_to_string(self.pid_file()).ok().and_then(|t| t.trim().parse().ok()).into_iter().collect();
        if let Ok(stream) = UnixStream::connect(&self.socket).await {
            pids.extend(stream.peer_cred().ok().and_then(|c| c.pid()));
        }
        for pid in pids.into_iter().filter_map(Pid::from_raw) {
            let Ok(handle) = pidfd_open(pid, PidfdFlags::NONBLOCK) else { continue };
            // after the handle is open the number cannot become another process's
            if !self.is_ours(pid) {
                continue;
            }
            let _ = pidfd_send_signal(&handle, Signal::KILL);
            let until = Instant::now() + Duration::from_secs(10);
            while self.is_ours(pid) && Instant::now() < until {
                sleep(Duration::from_millis(5)).await;
            }
        }
        let _ = fs::remove_file(&self.socket);
    }

    fn is_ours(&self, pid: Pid) -> bool {
        let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) else { return false };
        let wanted = format!("TGT_IPC_SOCKET={}", self.options.run.join("tgtd").display());
        environment.split(|b| *b == 0).any(|v| v == wanted.as_bytes())
    }

    fn pid_file(&self) -> PathBuf {
        self.options.run.join("tgtd.pid")
    }

    async fn start(&self) -> Result<Process> {
        let program =
            command::find("tgtd").ok_or_else(|| Refusal::internal("tgtd is not installed; `stowage node --check` says what to do"))?;
        let [first, more @ ..] = &*self.options.portals else { return Err(Refusal::invalid("no portal")) };
        let log = log_file(&self.options.run.join("tgtd.log"))?;
        let error_log = log.try_clone().map_err(|e| Refusal::io("tgtd.log", e))?;
        let mut child = Command::new(program)
            .args(["-f", "-C", "0", "-t", "2", "--iscsi", &format!("portal={first}")])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("TGT_IPC_SOCKET", self.options.run.join("tgtd"))
            // not a pipe of ours: it must outlive a node that is killed. Nothing may be written to its standard input: see reopen_lun
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(error_log)
            .current_dir("/")
            // an interrupt from the terminal is for the node, which ends it in order
            .process_group(0)
            .spawn()
            .map_err(|e| Refusal::io("cannot start tgtd", e))?;
        if let Some(pid) = child.id() {
            fs::write(self.pid_file(), pid.to_string()).map_err(|e| Refusal::io("tgtd.pid", e))?;
        }
        let outcome = match timeout(START, self.wait_for(&mut child)).await {
            Ok(Ok(())) => self.add_portals(more).await,
            Ok(Err(e)) => Err(e),
            Err(_) => Err(Refusal::internal("tgtd did not answer in time")),
        };
        let mut process = Process::Ours(Box::new(child));
        match outcome {
            Ok(()) => Ok(process),
            Err(e) => {
                process.kill().await;
                Err(e)
            }
        }
    }

    async fn wait_for(&self, child: &mut Child) -> Result<()> {
        loop {
            if self.client.ping().await.is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = child.try_wait() {
                return Err(Refusal::internal(format!(
                    "tgtd ended at once ({status}); {} says why",
                    self.options.run.join("tgtd.log").display()
                )));
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// It takes one portal to start with; and says nothing when the address is taken.
    async fn add_portals(&self, more: &[SocketAddr]) -> Result<()> {
        let fail = |e: super::TgtError| Refusal::internal(format!("a portal was not opened: {e}")).because(e);
        for portal in more {
            self.client.new_portal(*portal).await.map_err(fail)?;
        }
        let open = self.client.portals().await.map_err(fail)?;
        match self.options.portals.iter().find(|p| !open.contains(&p.to_string())) {
            None => Ok(()),
            Some(p) => Err(Refusal::internal(format!("tgtd cannot listen on {p}; is the address taken?"))),
        }
    }

    async fn silent(&self) {
        let mut missed = 0;
        while missed < PINGS_MISSED {
            sleep(PING_EVERY).await;
            missed = if self.client.ping().await.is_ok() { 0 } else { missed + 1 };
        }
    }
}

impl Process {
    async fn ended(&mut self) {
        match self {
            Self::Ours(child) => {
                let _ = child.wait().await;
            }
            // it never says anything without being asked
            Self::Adopted(_, line) => {
                let _ = line.read_u8().await;
            }
        }
    }

    /// Nothing is lost: what `tgtd` has acknowledged is in the kernel's hands.
    async fn kill(&mut self) {
        match self {
            Self::Ours(child) => {
                let _ = child.start_kill();
            }
            Self::Adopted(handle, _) => {
                let _ = pidfd_send_signal(handle, Signal::KILL);
            }
        }
        let _ = timeout(Duration::from_secs(10), self.ended()).await;
    }
}

/// Appends, so that it can be cut short while in use.
fn log_file(path: &Path) -> Result<fs::File> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(|e| Refusal::io(path.display(), e))?;
    if file.metadata().is_ok_and(|m| m.len() > LOG_LIMIT) {
        file.set_len(0).map_err(|e| Refusal::io(path.display(), e))?;
    }
    Ok(file)
}
