//! From options to a node that serves, and back to nothing.
//!
//! Order of the start: the lock, the address, the file system, the records, repair; then connections are accepted while the
//! iSCSI service comes up and is given everything back. Order of the end: no new requests, those in flight are answered, the
//! iSCSI service ends, the file system is unmounted.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    Node, Options, Phase, blocking,
    disk::{Disk, Loop, mounted, unmount},
    export::Exports,
    fresh::Fresh,
    http::{Acceptor, Token, router, serve},
    lock::{FolderLock, Locks},
    refusal::{Refusal, Result},
    state::{Records, private_folder},
    tgt::{Daemon, DaemonOptions, State},
};

const CHECK_EVERY: Duration = Duration::from_secs(30);
const FORGET_EVERY: Duration = Duration::from_secs(3600);

/// A node that serves.
pub struct Running {
    /// Where it really listens.
    pub address: SocketAddr,
    node: Arc<Node>,
    closing: CancellationToken,
    background: CancellationToken,
    listener: JoinSet<()>,
    loops: JoinSet<()>,
    mounted: Option<Loop>,
    _lock: FolderLock,
}

/// Starts a node.
///
/// # Errors
/// A refusal that says what to do.
pub async fn start(options: Options) -> Result<Running> {
    let dir = std::path::absolute(&options.dir).map_err(|e| Refusal::io(options.dir.display(), e))?;
    usable(&dir)?;
    if options.portals.is_empty() {
        return Err(Refusal::invalid("at least one portal is needed"));
    }
    let fresh = Fresh::look(&dir);
    private_folder(&dir)?;
    let lock = FolderLock::take(&dir)?;
    let first = fresh.is_first_start();
    match make(&dir, &options).await {
        Ok(made) => Ok(run(made, &dir, lock)),
        Err(e) => {
            // with the lock held: nobody else comes in meanwhile
            if first {
                fresh.undo();
            }
            Err(e)
        }
    }
}

/// All that can fail.
struct Made {
    address: SocketAddr,
    socket: TcpListener,
    acceptor: Acceptor,
    token: Token,
    mounted: Option<Loop>,
    node: Node,
}

async fn make(dir: &Path, options: &Options) -> Result<Made> {
    open_many_files();
    let listen = options.listen;
    let socket = TcpListener::bind(listen).await.map_err(|e| Refusal::io(format_args!("cannot listen on {listen}"), e))?;
    let address = socket.local_addr().map_err(|e| Refusal::io(listen, e))?;
    let acceptor = match &options.tls {
        None => Acceptor::plain(),
        Some((certificate, key)) => Acceptor::tls(certificate, key)?,
    };
    let image = dir.join("disk.img");
    let data = dir.join("data");
    let mounted =
        if image.exists() || options.loop_size.is_some() { Some(mounted(image, data.clone(), options.loop_size).await?) } else { None };
    let built = async {
        let node = build(dir, &data, mounted.as_ref(), options).await?;
        // last: it may lie outside the folder
        let token = Token::open(&options.token_file.clone().unwrap_or_else(|| dir.join("token")))?;
        Ok((node, token))
    };
    match built.await {
        Ok((node, token)) => Ok(Made { address, socket, acceptor, token, mounted, node }),
        Err(e) => {
            release(mounted.as_ref()).await;
            Err(e)
        }
    }
}

fn run(made: Made, dir: &Path, lock: FolderLock) -> Running {
    let Made { address, socket, acceptor, token, mounted, node } = made;
    let node = Arc::new(node);
    let (closing, background) = (CancellationToken::new(), CancellationToken::new());
    let mut loops = JoinSet::new();
    {
        let (daemon, stop) = (Arc::clone(&node.daemon), background.clone());
        loops.spawn(async move { daemon.run(stop).await });
    }
    loops.spawn(until(background.clone(), restore(Arc::clone(&node))));
    loops.spawn(until(background.clone(), forget(Arc::clone(&node))));
    let mut listener = JoinSet::new();
    listener.spawn(serve(socket, acceptor, router(Arc::clone(&node), token), closing.clone()));
    tracing::info!(%address, portals = ?node.portals, dir = %dir.display(), id = node.records.node_id, "the API is open; the iSCSI service is being started");
    Running { address, node, closing, background, listener, loops, mounted, _lock: lock }
}

async fn build(dir: &Path, data: &Path, mounted: Option<&Loop>, options: &Options) -> Result<Node> {
    let (dir, data, image) = (dir.to_owned(), data.to_owned(), mounted.map(|m| m.image.clone()));
    let run = dir.join("run");
    let (records, disk) = blocking(move || {
        private_folder(&data)?;
        private_folder(&dir.join("run"))?;
        let disk = Disk::open(&data, image)?;
        let records = Records::open(&dir.join("state"))?;
        disk.repair(&records)?;
        Ok((Arc::new(records), disk))
    })
    .await?;
    let daemon = Arc::new(Daemon::new(DaemonOptions { run, portals: options.portals.clone() })?);
    Ok(Node {
        exports: Arc::new(Exports::new(Arc::clone(&daemon), Arc::clone(&records), disk.clone())),
        records,
        disk,
        locks: Locks::default(),
        daemon,
        portals: options.portals.clone(),
        default_layout: options.default_layout,
        phase: watch::Sender::new(Phase::Starting),
    })
}

/// `tgtd` has a file open for each LUN, and the limit that shells give is 1,024.
fn open_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(e) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(error = %e, "the limit of open files is not raised; some hundred LUNs can be exported");
    }
}

/// The folder's path becomes part of what `tgtd` is told.
fn usable(dir: &Path) -> Result<()> {
    let plain = |t: &str| t.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b));
    match dir.to_str() {
        Some(text) if plain(text) => Ok(()),
        _ => Err(Refusal::invalid(format!("{}: the folder's path may only have [A-Za-z0-9._-] in its names", dir.display()))),
    }
}

async fn until(stop: CancellationToken, work: impl Future<Output = ()>) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = work => {}
    }
}

/// Gives every new daemon what the records say; and looks from time to time whether it still has it.
async fn restore(node: Arc<Node>) {
    let mut state = node.daemon.state();
    loop {
        let up = matches!(&*state.borrow_and_update(), State::Up { .. });
        if up {
            for outcome in [node.exports.reconcile().await, node.finish_all_leaving().await] {
                if let Err(e) = outcome {
                    tracing::warn!(error = %e, "exports are not all what they should be");
                }
            }
            node.phase.send_if_modified(|p| {
                let starting = *p == Phase::Starting;
                if starting {
                    *p = Phase::Serving;
                }
                starting
            });
        }
        let ballast = Arc::clone(&node.records.ballast);
        if let Err(e) = blocking(move || ballast.fill()).await {
            tracing::warn!(error = %e, "no room is kept for deletes");
        }
        tokio::select! {
            changed = state.changed() => if changed.is_err() { return },
            () = sleep(CHECK_EVERY) => {}
        }
    }
}

async fn forget(node: Arc<Node>) {
    loop {
        node.forget_tombstones().await;
        sleep(FORGET_EVERY).await;
    }
}

impl Running {
    /// Returns when the iSCSI service has been up and was given all exports.
    pub async fn serving(&self) {
        // the sender lives as long as the node
        let _ = self.node.phase.subscribe().wait_for(|phase| *phase != Phase::Starting).await;
    }

    /// Ends in order.
    pub async fn stop(mut self) {
        self.node.phase.send_replace(Phase::Stopping);
        self.closing.cancel();
        while self.listener.join_next().await.is_some() {}
        self.background.cancel();
        while self.loops.join_next().await.is_some() {}
        release(self.mounted.as_ref()).await;
        tracing::info!("stopped");
    }
}

async fn release(mounted: Option<&Loop>) {
    if let Some(mounted) = mounted
        && let Err(e) = unmount(mounted).await
    {
        tracing::warn!(error = %e, at = %mounted.at.display(), "the file system stays mounted; the next start uses it");
    }
}
