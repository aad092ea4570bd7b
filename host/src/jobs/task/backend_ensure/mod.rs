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
use super::{repeats, tried::settled};
use crate::{
    clock::{self, Micros, micros},
    driver::{DriverError, ErrorKind},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::ShareDetail,
    service::share_service::start,
    store::sql::{ensure::EnsureRun, jobs::JobFilter},
};

pub struct BackendEnsure;

/// How many turns a busy share has after its first.
const TRIES: i64 = 5;
/// The wait before those that are still busy have their next turn.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a back end that is left alone, or being reloaded, is waited for at most: as long as other jobs may take, if that is
/// shorter. Meanwhile the shares that are held wait with it.
const PATIENCE: Duration = Duration::from_secs(600);

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
    /// The back end is waited for since then.
    down_since: Option<Micros>,
}

/// What a failed call leads to.
enum Next {
    /// The same call once more.
    Again(Duration),
    /// The back end is down, and was waited for long enough.
    Down,
    /// That is the driver's answer.
    Failed,
}

impl Ask {
    /// The next step, at once.
    fn next(&self) -> Outcome {
        Outcome::Again {
            after: Duration::ZERO,
            payload: json!(Self { failures: 0, down_since: None, ..self.clone() }),
            reason: String::new(),
        }
    }

    fn later(&self, after: Duration, reason: String) -> Outcome {
        Outcome::Again { after, payload: json!(self), reason }
    }

    /// Counts a failed call. A back end that is down at `now` is waited for until it is down for longer than `patience`.
    fn failed(&mut self, e: &DriverError, patience: Duration, now: Micros) -> Next {
        if matches!(e.kind, ErrorKind::Quarantined | ErrorKind::NotLoaded) {
            let since = *self.down_since.get_or_insert(now);
            let pause = e.retry_after.unwrap_or(PAUSE).clamp(Duration::from_millis(100), Duration::from_secs(60));
            return if now - since < micros(patience) { Next::Again(pause.min(patience)) } else { Next::Down };
        }
        self.down_since = None;
        self.failures += 1;
        repeats::again(e, self.failures).map_or(Next::Failed, Next::Again)
    }

    /// As [`Ask::failed`], now.
    fn failed_now(&mut self, cx: &JobContext, e: &DriverError) -> Next {
        self.failed(e, PATIENCE.min(cx.app.config.get().jobs.max_age), clock::now())
    }
}

/// The job's arguments.
fn read(cx: &JobContext) -> Result<Ask, TaskError> {
    serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))
}

impl Task for BackendEnsure {
    fn kind(&self) -> &'static str {
        start::KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = read(cx)?;
            let Some(id) = ask.run.clone() else { return check::check(cx, &mut ask).await };
            match under_way(cx, &id).await? {
                Some(run) => step(cx, &mut ask, run).await,
                None => settled(cx, cx.app.store.begin().await?).await,
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let run = match read(cx) {
                Ok(ask) => ask.run,
                // the run is nobody else's, and must not stay for ever
                Err(_) => run_of_nobody_else(cx).await?,
            };
            match run {
                Some(id) if under_way(cx, &id).await?.is_some() => {
                    end::give_up(cx, &id, "it did not end in time", Some(ShareDetail::TookTooLong)).await
                }
                _ => settled(cx, cx.app.store.begin().await?).await,
            }
        })
    }
}

/// The back end's run that is under way, if no other job is there that may be its.
async fn run_of_nobody_else(cx: &JobContext) -> Result<Option<String>, TaskError> {
    let filter = JobFilter { kind: Some(start::KIND.to_owned()), resource_id: Some(cx.job.resource_id.clone()), ..JobFilter::default() };
    let jobs = cx.app.store.list_jobs(&filter, None, 1000).await?;
    if jobs.iter().any(|job| job.id != cx.job.id && job.ended_at.is_none()) {
        return Ok(None);
    }
    Ok(cx.app.store.ensure_last(&cx.job.resource_id).await?.filter(|run| run.ended_at.is_none()).map(|run| run.id))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_end_that_is_down_is_waited_for_until_the_patience_ends() {
        let (mut ask, patience) = (Ask::default(), Duration::from_secs(600));
        let down = DriverError::new(ErrorKind::Quarantined, "");
        for (now, waits) in [(1, true), (599_000_000, true), (600_000_001, false), (700_000_000, false)] {
            assert_eq!(matches!(ask.failed(&down, patience, now), Next::Again(_)), waits, "{now}");
        }
        // one that was back in between is waited for as long again
        ask.down_since = None;
        assert!(matches!(ask.failed(&down, patience, 700_000_000), Next::Again(_)));
    }

    #[test]
    fn waiting_for_a_back_end_takes_nothing_from_the_tries_of_a_call() {
        let mut ask = Ask::default();
        for now in 0..50 {
            ask.failed(&DriverError::not_loaded("h@b"), Duration::from_secs(60), now);
        }
        let busy = DriverError::new(ErrorKind::Transient, "");
        assert!(matches!(ask.failed(&busy, Duration::from_secs(60), 60), Next::Again(_)));
        assert!(matches!(ask.failed(&busy, Duration::from_secs(60), 61), Next::Again(_)));
        assert!(matches!(ask.failed(&busy, Duration::from_secs(60), 62), Next::Failed));
    }
}
