//! `share_server.manage`: the driver takes over a server that somebody else made, with what is on it.
//!
//! Steps, each of which a later run finds done: (1) the driver says which addresses the server has, and they are rows, as those
//! that are given; (2) the driver takes the server over, under our id; (3) the server is active. A failure that repeats do not
//! cure ends in `manage_error`, from where it is let go of again: its addresses are then given back, and nothing on the back end
//! is touched.

use std::net::IpAddr;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_server_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_server::ServerStatus,
    driver::{
        Backend, DriverError, DriverResult, ErrorKind,
        capability::ShareServerMode,
        types::{AddressCounts, ServerDetails, StringMap},
    },
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    network::NetworkError,
    notify::share_message::{ShareAction, ShareDetail},
    store::sql::share_servers::ShareServerRow,
};

pub struct ShareServerManage;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// For the driver.
    options: StringMap,
    tried: Tried,
}

/// Why it was not taken over.
enum Failure {
    Network(NetworkError),
    Driver(DriverError),
}

const MANAGING: &[ServerStatus] = &[ServerStatus::Managing];

impl Task for ShareServerManage {
    fn kind(&self) -> &'static str {
        "share_server.manage"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Managing).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            match take_over(cx, &server, &ask).await? {
                Ok(details) => done(cx, &server, &details).await,
                Err(Failure::Network(e)) => {
                    tracing::warn!(share_server_id = %server.id, error = %e, "the addresses of a share server cannot be taken over");
                    failed(cx, &server, ShareDetail::DriverFailedManageServer, &e.to_string(), &e.to_string()).await
                }
                Err(Failure::Driver(e)) => {
                    unless_fenced(&e)?;
                    tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "the driver did not take over the share server");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &server, ShareDetail::DriverFailedManageServer, e.user_text(), &e.to_string()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Managing).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            failed(cx, &server, ShareDetail::TookTooLong, "", "the back end did not finish in time").await
        })
    }
}

/// Steps 1 and 2.
async fn take_over(cx: &JobContext, server: &ShareServerRow, ask: &Ask) -> Result<Result<ServerDetails, Failure>, TaskError> {
    let (counts, addresses) = match looked(cx, server, ask).await {
        Ok(found) => found,
        Err(e) => return Ok(Err(Failure::Driver(e))),
    };
    if let Err(e) = write_down(cx, server, counts, &addresses).await? {
        return Ok(Err(Failure::Network(e)));
    }
    let networks = support::networks(cx, server).await?;
    let answer = async {
        let backend = cx.app.drivers.backend(&server.backend)?;
        backend.need_share_server_manage()?.adopt(&call(cx, "adopt"), &server.id, &server.identifier, &networks, &ask.options).await
    };
    Ok(answer.await.map_err(Failure::Driver))
}

/// How many addresses servers have here, and those of this one.
async fn looked(cx: &JobContext, server: &ShareServerRow, ask: &Ask) -> DriverResult<(AddressCounts, Vec<IpAddr>)> {
    let backend = cx.app.drivers.backend(&server.backend)?;
    if mode(&backend) == Some(ShareServerMode::WithoutServers) {
        let text = format!("{} has driver_handles_share_servers set to False", server.backend);
        return Err(DriverError::new(ErrorKind::Invalid, text.clone()).for_user(text));
    }
    let manages = backend.need_share_server_manage()?;
    let counts = backend.need_share_servers()?.allocations_wanted(&call(cx, "allocations")).await?;
    let addresses = manages.addresses(&call(cx, "addresses"), &server.id, &server.identifier, &ask.options).await?;
    if addresses.is_empty() && counts.per_subnet.max(counts.admin) > 0 {
        return Err(DriverError::wrong_answer("a server whose driver wants addresses has none"));
    }
    Ok((counts, addresses))
}

fn mode(backend: &Backend) -> Option<ShareServerMode> {
    backend.capabilities().map(|timed| timed.report.features.share_server_mode)
}

/// The server's addresses are rows from here on; those that are there count. All or none.
async fn write_down(
    cx: &JobContext,
    server: &ShareServerRow,
    counts: AddressCounts,
    addresses: &[IpAddr],
) -> Result<Result<(), NetworkError>, TaskError> {
    let subnets = cx.app.store.subnets_of_server(&server.id).await?;
    let places: Vec<_> = support::wants(&subnets, counts).into_iter().map(|w| w.place).collect();
    let mut tx = cx.app.store.begin().await?;
    let answer = cx.app.network.adopt(&mut tx, &server.id, &places, addresses).await;
    support::addressed(cx, tx, &subnets, answer).await
}

async fn done(cx: &JobContext, server: &ShareServerRow, details: &ServerDetails) -> Result<Outcome, TaskError> {
    let can = cx.app.drivers.backend(&server.backend).ok().and_then(|b| b.capabilities());
    let can = can.is_some_and(|timed| timed.report.features.network_allocation_update_support);
    let mut tx = cx.app.store.begin().await?;
    tx.share_server_managed(&server.id, &support::details_text(details)?, support::identifier(details), can, clock::now()).await?;
    settled(cx, tx).await
}

/// -> manage_error.
async fn failed(cx: &JobContext, server: &ShareServerRow, detail: ShareDetail, text: &str, why: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_server_status(&server.id, MANAGING, ServerStatus::ManageError, clock::now()).await? {
        support::tell(&mut tx, cx, server, ShareAction::Manage, detail, text).await?;
    }
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}
