//! Moving a share server, with all that is on it, to another back end or another share network.
//!
//! The host builds the destination with addresses of its own, as any server is built, and the driver of the destination copies.
//! So what users have mounted is never carried over: a migration is always disruptive, and who asks for another one is told that
//! it is not compatible.
//!
//! [`start`] commits the whole change of state: the destination's row, the room in its pools, source, shares and snapshots
//! `server_migrating`, and one job ([`KIND`]) that owns all of it to the end, also while an operator thinks. [`complete`] and
//! [`cancel`] each write what is wanted of it into `task_state`, and wake it.

mod ask;
mod compatible;
mod rest;
mod room;

pub mod cancel;
pub mod check;
pub mod complete;
pub mod progress;
pub mod start;

pub use room::{stand_in, stand_in_of_snapshots};

use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    context::RequestContext,
    domain::share_server::{ServerStatus, TaskState, joined},
    driver::types::{MigrationRequest, StringMap, Subnet},
    error::{Error, Result},
    store::{Tx, sql::share_servers::ShareServerRow},
};

/// The task that owns a migration.
pub const KIND: &str = "share_server.migrate";
/// The task that asks whether one could be.
pub const CHECK_KIND: &str = "share_server.migrate_check";

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct MigrateServer {
    /// `host@backend`.
    pub host: String,
    pub writable: bool,
    pub nondisruptive: bool,
    pub preserve_snapshots: bool,
    /// None: the network that it is in.
    pub new_share_network_id: Option<String>,
}

/// What the task that asks is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    /// `host@backend` of the destination.
    pub backend: String,
    pub subnets: Vec<Subnet>,
    pub request: MigrationRequest,
}

/// What the task that migrates is told.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Work {
    pub destination_id: String,
    pub request: MigrationRequest,
    /// Of the share type of the first share on it: what the destination is built with.
    pub specs: StringMap,
}

/// A migration that is under way, whose source the caller holds.
struct UnderWay {
    source: ShareServerRow,
    destination_id: String,
    job: String,
}

impl UnderWay {
    /// # Errors
    /// 400 when none is, or when it is in none of `tasks`.
    async fn of(tx: &mut Tx, id: &str, tasks: &[TaskState], what: &str) -> Result<Self> {
        let none = || Error::invalid(format!("Migration of share server {id} cannot be {what}: it is not being migrated."));
        let source = tx.share_server_locked(id).await?.filter(|s| s.status == ServerStatus::ServerMigrating.as_str()).ok_or_else(none)?;
        let task = source.task_state.as_deref().and_then(TaskState::parse);
        if !task.is_some_and(|t| tasks.contains(&t)) {
            return Err(Error::invalid(format!(
                "Migration of share server {id} cannot be {what} now: its task state is {}, and must be one of {}.",
                source.task_state.as_deref().unwrap_or("none"),
                joined(tasks)
            )));
        }
        let destination_id = tx.migration_destination(id).await?.ok_or_else(none)?;
        // an operator may have said of a server that it migrates
        let job = tx.running_job(id, &[KIND]).await?.ok_or_else(none)?;
        Ok(Self { source, destination_id, job })
    }

    /// The job has something to do at once.
    async fn wake(&self, app: &App, tx: &mut Tx) -> Result<()> {
        Ok(tx.hurry(&app.jobs, &self.job).await?)
    }
}

/// For the operator's log.
fn say(ctx: &RequestContext, what: &str, source: &str, destination: &str) {
    tracing::info!(
        share_server_id = source,
        destination,
        request_id = ctx.request_id,
        "an operator {what} the migration of a share server"
    );
}
