//! `share_server.create`: addresses in every subnet, then the driver's set-up over all of them, then the server is active.
//!
//! Steps, each of which a later run finds done: (1) the driver says how many addresses it wants, and they are rows before
//! anything uses them; (2) the driver's set-up, keyed by the server's id, with the same addresses at each repeat; (3) the
//! result. A failure that repeats do not cure undoes all of it: the driver takes down what it made, every address is given
//! back, the server is in `error`, from where it can be deleted. What could not be taken down is left to a clean-up job.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::{call, undo_call},
    cleanup, share_server_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_server::ServerStatus,
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{self, AddressCounts, Answer, PollOutcome, ServerDetails, StringMap},
    },
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    network::NetworkError,
    notify::share_message::ShareDetail,
    store::sql::{share_server_work::ServerFailure, share_servers::ShareServerRow},
};

pub struct ShareServerCreate;

/// The job's arguments, and what a run knows of the runs before it. Of a migration: how far its destination is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Ask {
    /// Of the share type that asked for the server.
    pub specs: StringMap,
    pub tried: Tried,
    /// The array works on it; how to ask.
    pub token: Option<String>,
    /// The array may hold something of it.
    pub begun: bool,
}

impl Ask {
    fn again(&self, after: Duration, reason: String) -> Outcome {
        Outcome::Again { after, payload: json!(self), reason }
    }
}

/// Why there is no server.
pub(super) enum Failure {
    Network(NetworkError),
    Driver(DriverError),
}

impl Task for ShareServerCreate {
    fn kind(&self) -> &'static str {
        "share_server.create"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            ask.begun |= ask.tried.uncertain;
            // an operator said that it is something else
            let Some(server) = support::in_status(cx, ServerStatus::Creating).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let failure = match build(cx, &server, &mut ask).await? {
                Ok(Answer::Done(details)) => return done(cx, &server, &details).await,
                Ok(Answer::Pending(pending)) => {
                    ask.tried.failures = 0;
                    ask.token = Some(pending.token);
                    return Ok(ask.again(pending.retry_after, "the back end builds the share server".to_owned()));
                }
                Err(failure) => failure,
            };
            match failure {
                Failure::Network(e) => {
                    tracing::warn!(share_server_id = %server.id, error = %e, "a share server gets no addresses");
                    failed(cx, &server, ask.begun, None, (e.detail(), &e.to_string()), &e.to_string()).await
                }
                Failure::Driver(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "the driver did not build the share server");
                    if e.kind == ErrorKind::NotFound && ask.token.take().is_some() {
                        // the array has forgotten the work's outcome: the verb itself finds it
                        return Ok(ask.again(Duration::ZERO, e.to_string()));
                    }
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(ask.again(after, e.to_string()));
                    }
                    let said = (ShareDetail::NoShareServer, e.user_message.as_deref().unwrap_or_default());
                    failed(cx, &server, ask.begun, e.partial.clone(), said, &e.to_string()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Creating).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let why = "The share server was not built in time.";
            failed(cx, &server, true, None, (ShareDetail::TookTooLong, why), why).await
        })
    }
}

/// Steps 1 and 2.
pub(super) async fn build(
    cx: &JobContext,
    server: &ShareServerRow,
    ask: &mut Ask,
) -> Result<Result<Answer<ServerDetails>, Failure>, TaskError> {
    if let Some(token) = &ask.token {
        return Ok(poll(cx, server, token).await.map_err(Failure::Driver));
    }
    let counts = match wanted(cx, server).await {
        Ok(counts) => counts,
        Err(e) => return Ok(Err(Failure::Driver(e))),
    };
    if let Err(e) = reserve(cx, server, counts).await? {
        return Ok(Err(Failure::Network(e)));
    }
    let networks = support::networks(cx, server).await?;
    ask.begun = true;
    let answer = async {
        let backend = cx.app.drivers.backend(&server.backend)?;
        backend.need_share_servers()?.setup(&call(cx, "setup"), &server.id, &networks, &ask.specs).await
    };
    Ok(answer.await.map_err(Failure::Driver))
}

async fn wanted(cx: &JobContext, server: &ShareServerRow) -> DriverResult<AddressCounts> {
    let backend = cx.app.drivers.backend(&server.backend)?;
    backend.need_share_servers()?.allocations_wanted(&call(cx, "allocations")).await
}

/// The question after a set-up that goes on in the array.
async fn poll(cx: &JobContext, server: &ShareServerRow, token: &str) -> DriverResult<Answer<ServerDetails>> {
    let backend = cx.app.drivers.backend(&server.backend)?;
    match backend.need_poll()?.poll(&call(cx, "poll"), token).await? {
        PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
        PollOutcome::Server(details) => Ok(Answer::Done(details)),
        other => Err(DriverError::wrong_answer(format!("the work of a share server's set-up ended as {other:?}"))),
    }
}

/// Addresses in every subnet, and in the operator's network; those that are there count. All or none.
async fn reserve(cx: &JobContext, server: &ShareServerRow, counts: AddressCounts) -> Result<Result<(), NetworkError>, TaskError> {
    let subnets = cx.app.store.subnets_of_server(&server.id).await?;
    let wants = support::wants(&subnets, counts);
    let mut tx = cx.app.store.begin().await?;
    let answer = cx.app.network.reserve(&mut tx, &server.id, &wants).await;
    let segments = answer.map(|reserved| reserved.into_iter().map(|one| one.segment).collect());
    support::addressed(cx, tx, &subnets, segments).await
}

async fn done(cx: &JobContext, server: &ShareServerRow, details: &ServerDetails) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.share_server_built(&server.id, &support::details_text(details)?, support::identifier(details), clock::now()).await?;
    settled(cx, tx).await
}

/// creating -> error, without addresses. `said` is for the users whose shares wait, `why` for the operator.
async fn failed(
    cx: &JobContext,
    server: &ShareServerRow,
    begun: bool,
    partial: Option<ServerDetails>,
    (detail, said): (ShareDetail, &str),
    why: &str,
) -> Result<Outcome, TaskError> {
    // what was made goes before its addresses do; where it does not go, they are given back all the same, and the next server
    // that gets one of them may find the half-made one on it until the clean-up is done
    let taken_down = match begun {
        true => support::take_down(cx, &server.backend, &server.id, partial.as_ref(), &undo_call(cx, "undo")).await,
        false => Ok(()),
    };
    if let Err(e) = &taken_down {
        unless_fenced(e)?;
        tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "what there is of a failed share server was not taken down yet");
    }
    let mut tx = cx.app.store.begin().await?;
    let left = partial.as_ref().filter(|_| taken_down.is_err());
    let details = left.map(support::details_text).transpose()?;
    let failure = ServerFailure { failed_detail: Some(detail.id().to_owned()), failed_text: Some(said.to_owned()) };
    if tx.share_server_not_built(&server.id, details.as_deref(), &failure, clock::now()).await? {
        support::give_back(cx, &mut tx, &server.id).await?;
        if taken_down.is_err() {
            let remains = types::ShareServer { id: server.id.clone(), details: partial.unwrap_or_default() };
            cleanup::leave(&mut tx, cx, &server.backend, &remains).await?;
        }
    }
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}
