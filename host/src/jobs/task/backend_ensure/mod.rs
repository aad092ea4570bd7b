//! `backend.ensure`: a driver compares the shares of its back end with what it finds, batch by batch.
//!
//! A run of the task is one step, so that the back end's other jobs get their turn between two. All that a step needs to know
//! is in the run's rows: what was prepared, which shares are held, how far the walk is. So a run that is taken over goes on
//! where it was; asking a driver again for shares that were asked for is harmless. All of a run is asked of one incarnation of
//! the back end: one that changes in the middle of a run begins it anew. A batch that traps is halved, and the
//! halves are rows too: a back end that is left alone for a while meanwhile goes on with the halves. However it ends (left
//! out, failed, trapped, out of time), every share gets its status back and its jobs go on.

mod ask;
mod check;
mod end;
mod prepare;
mod serving;
mod take;
mod write;

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::serving::{Serving, serving};
use super::{patience, tried::settled};
use crate::{
    driver::{DriverError, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::ShareDetail,
    store::sql::ensure::EnsureRun,
};

pub struct BackendEnsure;

/// How many turns a busy share has after its first.
const TRIES: i64 = 5;
/// The wait before those that are still busy have their next turn.
const PAUSE: Duration = Duration::from_secs(2);
/// How often a back end that is left alone, or being reloaded, is waited for.
const WAITS: u32 = 120;

/// The job's arguments, and what a step knows of the steps before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// None: it is to be seen whether a run is needed.
    run: Option<String>,
    /// Of the back end, where no run is named: which one was swapped in.
    incarnation: Option<String>,
    /// How often in a row a process had the job that has not what it takes.
    elsewhere: u32,
    /// Calls that failed in a row.
    failures: u32,
}

impl Ask {
    /// The next step, at once.
    fn next(&self) -> Outcome {
        Outcome::Again { after: Duration::ZERO, payload: json!(Self { failures: 0, ..self.clone() }), reason: String::new() }
    }

    fn later(&self, after: Duration, reason: String) -> Outcome {
        Outcome::Again { after, payload: json!(self), reason }
    }

    /// Counts a failed call; when the same call is made again. None: that is the end of it.
    fn again(&mut self, e: &DriverError) -> Option<Duration> {
        self.failures += 1;
        match e.kind {
            // it is back by itself, and the shares can wait
            ErrorKind::Quarantined | ErrorKind::NotLoaded if self.failures < WAITS => {
                Some(e.retry_after.unwrap_or(PAUSE).clamp(Duration::from_millis(100), Duration::from_secs(60)))
            }
            _ => patience::again(e, self.failures),
        }
    }
}

impl Task for BackendEnsure {
    fn kind(&self) -> &'static str {
        crate::service::share_service::start::KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            let Some(id) = ask.run.clone() else { return check::check(cx, &mut ask).await };
            match under_way(cx, &id).await? {
                Some(run) => step(cx, &mut ask, run).await,
                None => settled(cx, cx.app.store.begin().await?).await,
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            match ask.run {
                Some(id) if under_way(cx, &id).await?.is_some() => {
                    end::give_up(cx, &id, "it did not end in time", Some(ShareDetail::TookTooLong)).await
                }
                _ => settled(cx, cx.app.store.begin().await?).await,
            }
        })
    }
}

async fn under_way(cx: &JobContext, id: &str) -> Result<Option<EnsureRun>, TaskError> {
    Ok(cx.app.store.ensure_run(id).await?.filter(|run| run.ended_at.is_none()))
}

async fn step(cx: &JobContext, ask: &mut Ask, run: EnsureRun) -> Result<Outcome, TaskError> {
    if !run.prepared {
        return prepare::prepare(cx, ask, &run).await;
    }
    if let Some((part, shares)) = cx.app.store.ensure_part(&run.id).await? {
        let backend = match serving(cx, ask, &run.backend, run.incarnation.as_deref()).await? {
            Serving::Here(backend) => Ok(backend),
            Serving::Down(e) => Err(e),
            Serving::Elsewhere(outcome) => return Ok(outcome),
            Serving::Instead(_) => return prepare::start_over(cx, ask, &run).await,
        };
        return ask::ask(cx, ask, &run, backend, part, shares).await;
    }
    if run.walked { take::busy(cx, ask, &run).await } else { take::next(cx, ask, run).await }
}
