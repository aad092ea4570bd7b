//! What the contract promises, tried on a live back end: the conformance kit behind `stowage driver test`.
//!
//! It makes objects of its own, repeats each verb as the host does after a lost answer, and takes everything away again.
//! It knows only the traits of [`driver`](super), so it runs on any driver and any array. A check that fails does not end the
//! run; what it left behind is deleted at the end as far as the driver does that.

mod block;
mod migration;
mod server;
mod server_manage;
mod share;

use std::{future::Future, time::Duration};

use super::{
    Backend, Call, DriverResult,
    capability::{Features, Pool},
    types::{Answer, PollOutcome},
};

/// How one promise was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Kept,
    /// What the driver did instead.
    Broken(String),
    /// Why it was not tried.
    Skipped(String),
}

/// One promise of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// A sentence: `a repeated create finds the volume`.
    pub promise: &'static str,
    pub outcome: Outcome,
}

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub checks: Vec<Check>,
}

impl Report {
    pub fn broken(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|c| matches!(c.outcome, Outcome::Broken(_)))
    }

    async fn check(&mut self, promise: &'static str, trial: impl Future<Output = Result<(), String>>) {
        let outcome = trial.await.map_or_else(Outcome::Broken, |()| Outcome::Kept);
        self.checks.push(Check { promise, outcome });
    }

    fn skip(&mut self, promise: &'static str, why: &str) {
        self.checks.push(Check { promise, outcome: Outcome::Skipped(why.to_owned()) });
    }
}

/// Tries everything that the back end's driver exports. `budget` is the time of one call.
pub async fn run(backend: &Backend, budget: Duration) -> Report {
    let mut report = Report::default();
    let desk = Desk { backend, budget };
    let mut pool = None;
    report
        .check("it reports pools whose free room is not above their size", async {
            let timed = backend.refresh(&desk.call("report")).await.or_say("report")?;
            for pool in &timed.report.pools {
                if let (Some(total), Some(free)) = (pool.total.gib(), pool.free.gib())
                    && free > total
                {
                    return Err(format!("pool {:?} has {free} GiB free of {total}", pool.name));
                }
            }
            pool = timed.report.pools.iter().find(|p| p.available).map(|p: &Pool| p.name.clone());
            Ok(())
        })
        .await;
    let Some(pool) = pool else {
        report.skip("volumes and shares", "no pool is available");
        return report;
    };
    if backend.volumes().is_some() {
        block::run(&desk, &pool, &mut report).await;
    }
    if backend.shares().is_some() {
        share::run(&desk, &pool, &mut report).await;
        server::run(&desk, &pool, &mut report).await;
    }
    report
}

/// Tries what only two back ends can show: a share server that moves from one to the other.
pub async fn between(from: &Backend, to: &Backend, budget: Duration) -> Report {
    let mut report = Report::default();
    let (from, to) = (Desk { backend: from, budget }, Desk { backend: to, budget });
    let mut pool = None;
    report
        .check("both report pools, and the first has one that is available", async {
            for desk in [&to, &from] {
                let timed = desk.backend.refresh(&desk.call("report")).await.or_say("report")?;
                pool = timed.report.pools.iter().find(|p| p.available).map(|p: &Pool| p.name.clone());
            }
            pool.as_ref().map(drop).ok_or_else(|| "no pool is available".to_owned())
        })
        .await;
    if let Some(pool) = pool {
        server::between(&from, &to, &pool, &mut report).await;
    }
    report
}

/// What the checks work with.
struct Desk<'b> {
    backend: &'b Backend,
    budget: Duration,
}

impl Desk<'_> {
    /// The same operation gets the same id each time: a repeat is made by asking again with the same name.
    fn call(&self, operation: &str) -> Call {
        let request = format!("req-{}", uuid::Uuid::new_v4());
        Call::new(format!("kit:{operation}"), 1, request, self.budget, crate::jobs::Lease::unbounded())
    }

    fn features(&self) -> Features {
        self.backend.capabilities().map(|timed| timed.report.features.clone()).unwrap_or_default()
    }

    /// Follows pending work to its end, for at most ten times the budget of one call.
    async fn finish<T>(&self, what: &str, answer: DriverResult<Answer<T>>, end: impl Fn(PollOutcome) -> Option<T>) -> Result<T, String> {
        let mut pending = match answer.or_say(what)? {
            Answer::Done(done) => return Ok(done),
            Answer::Pending(pending) => pending,
        };
        let work = async {
            let poll = self.backend.need_poll().or_say("it answered `pending`, so it has to export poll")?;
            loop {
                tokio::time::sleep(pending.retry_after).await;
                match poll.poll(&self.call("poll"), &pending.token).await.or_say("poll")? {
                    PollOutcome::Pending(again) => pending = again,
                    done => return end(done).ok_or_else(|| format!("{what}: poll answered for another kind of work")),
                }
            }
        };
        tokio::time::timeout(self.budget * 10, work).await.unwrap_or_else(|_| Err(format!("{what} was pending for too long")))
    }
}

/// Turns errors into what the report says.
trait OrSay<T> {
    fn or_say(self, what: &str) -> Result<T, String>;
}

impl<T> OrSay<T> for DriverResult<T> {
    fn or_say(self, what: &str) -> Result<T, String> {
        self.map_err(|e| format!("{what}: {e}"))
    }
}

/// Of a verb on an object that is not there.
fn refused_as<T>(what: &str, result: DriverResult<T>, kind: super::ErrorKind) -> Result<(), String> {
    match result {
        Ok(_) => Err(format!("{what} succeeded")),
        Err(e) if e.kind == kind => Ok(()),
        Err(e) => Err(format!("{what} was refused as {} instead of {}: {}", e.kind.as_str(), kind.as_str(), e.message)),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, first: &T, second: &T) -> Result<(), String> {
    if first == second { Ok(()) } else { Err(format!("{what}: first {first:?}, then {second:?}")) }
}
