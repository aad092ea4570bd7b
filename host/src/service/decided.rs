//! Whose word counts about what a thing is: that of an operator, unless a job is under way that decides it.
//!
//! Such a job makes the thing, deletes it, hands it over or changes what it holds: until it has ended the thing is nothing yet,
//! nothing any more, or something between, and the job writes its end over a state that it expects. A status said meanwhile
//! would be false, and the job's answer would be lost. It ends by itself; an operator is not needed. (A resize, an ensure and a
//! retype write their ends beside whatever is said.)
//!
//! The caller holds the thing's row, which every such job holds at its end: what is found here is so until the caller commits.

use crate::{
    error::{Error, Result},
    store::Tx,
};

pub const VOLUME: &[&str] = &["volume.create", "volume.delete", "volume.revert"];
pub const SNAPSHOT: &[&str] = &["snapshot.create", "snapshot.delete"];
pub const SHARE: &[&str] = &["share.create", "share.delete", "share.revert", "share.manage", "share.unmanage"];
pub const SHARE_SNAPSHOT: &[&str] = &["share_snapshot.create", "share_snapshot.delete", "share_snapshot.manage", "share_snapshot.unmanage"];
/// Of the share of a snapshot to which it is being reverted.
pub const SHARE_OF_RESTORING: &[&str] = &["share.revert"];
pub const SHARE_SERVER: &[&str] = &[
    "share_server.create",
    "share_server.delete",
    "share_server.manage",
    "share_server.unmanage",
    "share_server.network_update",
    "share_server.migrate",
];
/// Of the server that a share is on, and of the one that another is moving from: what they are, and what is on them, is that job's.
pub const SERVER_THAT_MOVES: &[&str] = &["share_server.migrate"];
/// Of the servers of a network that is being changed.
pub const SERVER_OF_CHANGING: &[&str] = &["share_server.network_update"];

/// No job of these `kinds` is under way on `resource_id`.
///
/// # Errors
/// What `refuse` makes of the job's id.
pub async fn check(tx: &mut Tx, resource_id: &str, kinds: &[&str], refuse: impl FnOnce(&str) -> Error) -> Result<()> {
    match tx.running_job(resource_id, kinds).await? {
        Some(job) => Err(refuse(&job)),
        None => Ok(()),
    }
}

/// The server that a share is on, if it is on one, does not move.
///
/// # Errors
/// As [`check`].
pub async fn check_stays(tx: &mut Tx, server_id: Option<&str>, refuse: impl FnOnce(&str) -> Error) -> Result<()> {
    match server_id {
        Some(id) => check(tx, id, SERVER_THAT_MOVES, refuse).await,
        None => Ok(()),
    }
}

/// How a refusal of `what` ends, for every kind of thing.
pub fn says(what: &str, id: &str, status: &str, job: &str) -> String {
    format!("{what} {id} is {status}: job {job} says what comes of it.")
}
