//! The iSCSI service: `tgtd`, and how it is spoken to.
//!
//! It is spoken to over its management socket, as `tgtadm` does, and not through that program: an account's password would
//! stand in `tgtadm`'s arguments, where every user of the machine can read it, and a call costs 0.2 ms instead of a process.
//! The socket is private to one node (`TGT_IPC_SOCKET`), so several nodes, and a `tgtd` of the machine's own, do not meet.

mod call;
mod daemon;
mod ipc;
mod show;

pub use call::{Client, LunParams};
pub use daemon::{Daemon, DaemonOptions, State};
pub use ipc::{Code, TgtError};
pub use show::{ShownTarget, shown_size};
