//! `share_server.delete`: the driver's teardown, then its addresses are given back and its row goes; with the last server of
//! a deleted network or subnet those rows go, too.
//!
//! A teardown that fails leaves a server that worked in `error`, from where it can be deleted again. One that was in error
//! goes in any case, and so does one whose network or subnet was deleted, for nobody would delete that again: what the driver
//! could not take down is left to a clean-up job, which tries on for days. Addresses that the array may still use are given
//! back late: what a repeat may cure is waited for as long as the job may take, unless the server was in error before; and so is
//! an array that is busy, for what failed on the server is cleaned up by jobs of its own.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    cleanup, share_server_abandon, share_server_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_server::ServerStatus,
    driver::{DriverError, ErrorKind},
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError, backoff},
    store::{Tx, sql::share_servers::ShareServerRow},
};

/// Between two of the later tries.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
const MOST_PAUSE: Duration = Duration::from_secs(60);

pub struct ShareServerDelete;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Its status before.
    was: Option<String>,
    tried: Tried,
}

impl Ask {
    fn goes_anyway(&self) -> bool {
        self.was.as_deref() == Some(ServerStatus::Error.as_str())
    }

    /// How long to wait before the next try, beyond the usual ones. None: it is given up. `left`: nobody else would try it again.
    fn waits(&self, e: &DriverError, left: bool) -> Option<Duration> {
        let waits = !self.goes_anyway() && (e.kind == ErrorKind::Busy || (left && e.worth_repeating()));
        let pause = e.retry_after.unwrap_or_else(|| backoff(self.tried.failures.into()));
        waits.then(|| pause.clamp(LEAST_PAUSE, MOST_PAUSE))
    }
}

impl Task for ShareServerDelete {
    fn kind(&self) -> &'static str {
        "share_server.delete"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Deleting).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let told = support::driver_server(&server)?;
            let details = Some(&told.details).filter(|_| server.details.is_some());
            let answer = match share_server_abandon::remove_left(cx, &server).await? {
                Ok(()) => support::take_down(cx, &server.backend, &server.id, details, &call(cx, "teardown")).await,
                Err(e) => Err(e),
            };
            let Err(e) = answer else {
                let mut tx = cx.app.store.begin().await?;
                // in the order in which everybody holds them
                tx.share_network_locked_if_deleted_too(&server.share_network_id).await?;
                return remove(cx, tx, &server, false).await;
            };
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "the driver did not take the share server down");
            let soon = ask.tried.again(&e);
            let mut tx = cx.app.store.begin().await?;
            let left = tx.share_server_is_left(&server.id).await?;
            tx.rollback().await?;
            if let Some(after) = soon.or_else(|| ask.waits(&e, left)) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            give_up(cx, &server, &ask, &e.to_string()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Deleting).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            give_up(cx, &server, &ask, "the teardown took too long").await
        })
    }
}

/// The driver does not take it down: it goes all the same where nobody would delete it again, else it is in error.
async fn give_up(cx: &JobContext, server: &ShareServerRow, ask: &Ask, why: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    // held: whoever deletes the network or a subnet of it finds the server as it is afterwards
    tx.share_network_locked_if_deleted_too(&server.share_network_id).await?;
    if ask.goes_anyway() || tx.share_server_is_left(&server.id).await? {
        return remove(cx, tx, server, true).await;
    }
    tx.share_server_status(&server.id, &[ServerStatus::Deleting], ServerStatus::Error, clock::now()).await?;
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}

/// Its rows go, in a transaction that holds its network. `leftover`: the array may hold something of it.
async fn remove(cx: &JobContext, mut tx: Tx, server: &ShareServerRow, leftover: bool) -> Result<Outcome, TaskError> {
    let told = support::driver_server(server)?;
    if support::forget(cx, &mut tx, server, ServerStatus::Deleting).await? && leftover {
        cleanup::leave(&mut tx, cx, &server.backend, &told).await?;
    }
    settled(cx, tx).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_worked_waits_for_a_busy_array_and_one_that_is_left_for_any_that_may_recover() {
        let (worked, failed) = (Ask { was: Some("active".into()), ..Ask::default() }, Ask { was: Some("error".into()), ..Ask::default() });
        let waits = |ask: &Ask, kind, left| ask.waits(&DriverError::new(kind, ""), left).is_some();
        assert!(waits(&worked, ErrorKind::Busy, false) && waits(&worked, ErrorKind::Busy, true));
        assert!(waits(&worked, ErrorKind::Transient, true) && !waits(&worked, ErrorKind::Transient, false));
        assert!(!waits(&worked, ErrorKind::Unsupported, true), "what no repeat cures is given up");
        assert!(!waits(&failed, ErrorKind::Busy, true) && !waits(&failed, ErrorKind::Transient, true), "one in error goes in any case");
    }

    #[test]
    fn the_pauses_are_seconds() {
        let mut ask = Ask { was: Some("active".into()), ..Ask::default() };
        for failures in [1, 5, 40] {
            ask.tried.failures = failures;
            let pause = ask.waits(&DriverError::new(ErrorKind::Busy, ""), false).unwrap();
            assert!((LEAST_PAUSE..=MOST_PAUSE).contains(&pause), "{pause:?}");
        }
    }
}
