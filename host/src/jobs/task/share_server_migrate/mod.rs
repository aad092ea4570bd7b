//! `share_server.migrate`: a share server moves, with all that is on it, to another back end or another share network.
//!
//! `task_state` of the source says how far it is, and each run begins there: (1) [`build`]: the destination gets its addresses and
//! is built, as any server is; (2) [`copy`]: its driver copies, which may take days; (3) all is copied, and an operator thinks:
//! the job stays the owner, and looks again when it is woken, or by itself with growing pauses; (4) [`finish`]: the driver moves
//! the rest, and one transaction puts shares, snapshots, addresses and room where the data is.
//!
//! Until that transaction the source serves, and nothing of it has changed. Whatever fails before, and an operator who cancels, end
//! in [`undo`]: the driver takes back what it began, the destination is torn down, and source, shares and snapshots are what they
//! were. A job past its age does the same. Only a last step that may have happened and that cannot be taken back ends in error,
//! for then nobody but the array knows where the data is.

mod build;
mod copy;
mod finish;
mod undo;

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    server_situation::situation,
    share_server_create, share_server_support as support,
    tried::{Tried, settled},
};
use crate::{
    clock::Micros,
    domain::share_server::{ServerStatus, TaskState},
    driver::{
        DriverError, ErrorKind,
        types::{MigrationSource, MigrationTarget},
    },
    jobs::{JobContext, Outcome, Task, TaskError, backoff},
    service::share_server::migration::{KIND, Work},
    store::{StoreResult, Tx, sql::share_servers::ShareServerRow},
};

/// Between two looks at what an operator wants, who wakes the job where it sleeps already.
const MOST_PAUSE: Duration = Duration::from_secs(30);

pub struct ShareServerMigrate;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    work: Work,
    build: share_server_create::Ask,
    /// The array works on this step; how to ask.
    token: Option<String>,
    /// And not before.
    ask_at: Micros,
    /// Of this step.
    tried: Tried,
    /// The driver was asked to begin, or is about to be.
    asked: bool,
    /// How often an operator was waited for.
    looks: u32,
    /// It is given up.
    failed: Option<Failed>,
}

/// Why, for the log and the one who asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Failed {
    why: String,
    /// The driver's words for users.
    said: String,
    /// The last step may have happened.
    moved_perhaps: bool,
}

impl Failed {
    fn of(why: impl Into<String>, said: &str) -> Self {
        Self { why: why.into(), said: said.to_owned(), moved_perhaps: false }
    }
}

impl Ask {
    fn read(cx: &JobContext) -> Result<Self, TaskError> {
        let mut ask: Self =
            serde_json::from_value(cx.payload()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
        ask.tried = ask.tried.begin(cx.job.attempts);
        ask.build.begun |= ask.tried.uncertain;
        if ask.build.specs.is_empty() {
            ask.build.specs.clone_from(&ask.work.specs);
        }
        Ok(ask)
    }

    fn again(&self, after: Duration, reason: impl Into<String>) -> Outcome {
        Outcome::Again { after, payload: json!(self), reason: reason.into() }
    }

    /// How long to wait for an array that does not answer, beyond the usual repeats. None: that does not help.
    fn waits(&self, e: &DriverError) -> Option<Duration> {
        let silent = matches!(
            e.kind,
            ErrorKind::Transient | ErrorKind::Deadline | ErrorKind::NotLoaded | ErrorKind::Quarantined | ErrorKind::Saturated
        );
        let pause = e.retry_after.unwrap_or_else(|| backoff(self.tried.failures.into()));
        silent.then(|| pause.clamp(Duration::from_secs(1), Duration::from_secs(60)))
    }

    /// The next step begins with nothing tried.
    fn next_step(&mut self) {
        (self.token, self.ask_at) = (None, 0);
        self.tried = self.tried.afresh();
    }
}

/// The two servers.
struct Pair {
    source: ShareServerRow,
    target: ShareServerRow,
    task: TaskState,
}

impl Pair {
    /// None: somebody else decides about one of them, or it is gone.
    async fn of(cx: &JobContext, ask: &Ask) -> StoreResult<Option<Self>> {
        let Some(source) = support::in_status(cx, ServerStatus::ServerMigrating).await? else { return Ok(None) };
        let target = cx.app.store.share_server(&ask.work.destination_id).await?.map(|s| s.row);
        let Some(target) = target.filter(|t| t.status == ServerStatus::ServerMigratingTo.as_str()) else { return Ok(None) };
        let task = source.task_state.as_deref().and_then(TaskState::parse).unwrap_or(TaskState::Error);
        Ok(Some(Self { source, target, task }))
    }

    /// A transaction that holds both, and their networks before them, as everybody does who changes servers. An error: they are not
    /// what they were.
    async fn held(&self, cx: &JobContext, what: &str) -> Result<Tx, TaskError> {
        let mut tx = cx.app.store.begin().await?;
        let mut networks = [self.source.share_network_id.as_str(), self.target.share_network_id.as_str()];
        networks.sort_unstable();
        tx.share_network_locked_if_deleted_too(networks[0]).await?;
        if networks[0] != networks[1] {
            tx.share_network_locked_if_deleted_too(networks[1]).await?;
        }
        let source = tx.share_server_locked(&self.source.id).await?;
        let target = tx.share_server_locked(&self.target.id).await?;
        let is = |server: Option<ShareServerRow>, status: ServerStatus| server.is_some_and(|s| s.status == status.as_str());
        if is(source, ServerStatus::ServerMigrating) && is(target, ServerStatus::ServerMigratingTo) {
            return Ok(tx);
        }
        tx.rollback().await?;
        Err(TaskError::Other(format!("the servers of a migration were changed while it was {what}")))
    }

    async fn told_target(&self, cx: &JobContext) -> StoreResult<MigrationTarget> {
        Ok(MigrationTarget { server: support::driver_server(&self.target)?, networks: support::networks(cx, &self.target).await? })
    }
}

/// A server where it is, with all that is on it, as the driver of its destination is told of it.
pub(super) async fn told_source(cx: &JobContext, server: &ShareServerRow) -> StoreResult<MigrationSource> {
    let (situation, _) = situation(cx, server).await?;
    Ok(MigrationSource { host: server.backend.clone(), situation })
}

impl Task for ShareServerMigrate {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = Ask::read(cx)?;
            let Some(pair) = Pair::of(cx, &ask).await? else { return settled(cx, cx.app.store.begin().await?).await };
            match pair.task {
                TaskState::Starting | TaskState::InProgress => build::build(cx, &pair, ask).await,
                TaskState::DriverStarting | TaskState::DriverInProgress => copy::copy(cx, &pair, ask).await,
                TaskState::Phase1Done => Ok(wait(ask)),
                TaskState::Completing => finish::finish(cx, &pair, ask).await,
                TaskState::CancelInProgress => undo::undo(cx, &pair, ask).await,
                TaskState::Success | TaskState::Cancelled | TaskState::Error => {
                    undo::because(cx, &pair, ask, Failed::of("its task state was changed", "")).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = Ask::read(cx)?;
            let Some(pair) = Pair::of(cx, &ask).await? else { return settled(cx, cx.app.store.begin().await?).await };
            if pair.task == TaskState::CancelInProgress {
                return undo::at_last(cx, &pair, ask).await;
            }
            let moved_perhaps = pair.task == TaskState::Completing;
            let why = Failed { why: "the migration was not completed in time".to_owned(), said: String::new(), moved_perhaps };
            // the next run, which expires too, ends it
            undo::because(cx, &pair, ask, why).await
        })
    }
}

/// What is done next an operator says. One who does between this run's look and its end is seen a little later.
fn wait(mut ask: Ask) -> Outcome {
    let pause = Duration::from_secs(1 << ask.looks.min(6)).min(MOST_PAUSE);
    ask.looks = ask.looks.saturating_add(1);
    ask.again(pause, "all is copied: waits for migration_complete or migration_cancel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_waited_for_with_pauses_that_grow_to_half_a_minute() {
        let mut pauses = Vec::new();
        let mut ask = Ask::default();
        for _ in 0..8 {
            let Outcome::Again { after, payload, .. } = wait(ask) else { panic!() };
            pauses.push(after.as_secs());
            ask = serde_json::from_value(payload).unwrap();
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
    }
}
