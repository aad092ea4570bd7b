//! `stowage node`: a Linux machine as a storage array.
//!
//! Drivers speak HTTP to arrays; this is an array made of what Linux has: sparse files on btrfs (snapshots and clones share
//! blocks) and `tgtd` (iSCSI). `docs/node-api.md` is its contract, `docs/node.md` the operator's page. It shares nothing with
//! the rest of the crate but logging: no database, no drivers.
//!
//! | folder | what |
//! |---|---|
//! | `name`, `refusal` | the types that everything from outside goes through; the closed set of refusals |
//! | `state/` | the records, the node's only truth |
//! | `disk/` | files: made complete before their record, moved after it |
//! | `tgt/` | the daemon, its protocol |
//! | `export/` | makes `tgtd` hold what the records say |
//! | `verb/` | one verb a file: check, fence, carry out |
//! | `http/` | the only place that knows HTTP and JSON |
//!
//! Invariants: a record is written when what it says can be made true by anybody who reads it, so a kill at any moment leaves a
//! state that the next start completes or undoes; verbs of one object run one after the other, verbs of different objects side
//! by side; a call of a lower generation than one seen changes nothing; a verb that was begun ends, also when its caller hangs up.
//! On failure: a full disk refuses what is new and leaves what is there; a dead `tgtd` is started again and given everything
//! back; records that cannot be read, or a file system that cannot be mounted, stop the start.

pub mod check;
mod command;
mod disk;
mod export;
mod fresh;
mod http;
mod lock;
pub mod name;
pub mod refusal;
mod start;
mod state;
mod tgt;
mod verb;

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use tokio::sync::watch;

pub use disk::SMALLEST;
pub use start::{Running, start};

use disk::Disk;
use export::Exports;
use lock::Locks;
use name::Layout;
use refusal::{Refusal, Result};
use state::Records;
use tgt::Daemon;

/// What the command line says.
#[derive(Debug, Clone)]
pub struct Options {
    pub dir: PathBuf,
    pub listen: SocketAddr,
    /// Where initiators connect; the first is the preferred one.
    pub portals: Vec<SocketAddr>,
    /// Without: `token` in the folder.
    pub token_file: Option<PathBuf>,
    /// Make a file system of this size in a file, at the first start.
    pub loop_size: Option<u64>,
    pub default_layout: Layout,
    /// Certificate chain and key, PEM.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A running node, as its verbs see it.
#[derive(Debug)]
struct Node {
    records: Arc<Records>,
    disk: Disk,
    locks: Locks,
    exports: Arc<Exports>,
    daemon: Arc<Daemon>,
    portals: Vec<SocketAddr>,
    default_layout: Layout,
    phase: watch::Sender<Phase>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    Serving,
    Stopping,
}

/// Who calls: what every verb that changes something is given.
#[derive(Debug, Clone)]
struct Call {
    generation: u64,
}

/// Runs what blocks where it may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(Refusal::internal(format!("the node's own fault: {e}"))))
}

/// A secret of `length` letters and digits.
fn secret(length: usize) -> String {
    use rand::{Rng, distr::Alphanumeric};
    rand::rng().sample_iter(Alphanumeric).take(length).map(char::from).collect()
}
