//! `share_server.delete`: the driver's teardown, then its addresses are given back and its row goes; with the last server of
//! a deleted network or subnet those rows go, too.
//!
//! A teardown that fails leaves a server that worked in `error`, from where it can be deleted again. One that was in error
//! goes in any case: what the driver could not take down is left to a clean-up job, which tries on for days.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    cleanup, share_server_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_server::ServerStatus,
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    service::page::to_tombstone,
    store::sql::{
        share_servers::{ServerSort, ShareServerRow},
        tombstones::Tombstone,
    },
};

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
}

impl Task for ShareServerDelete {
    fn kind(&self) -> &'static str {
        "share_server.delete"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = deleting(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let told = support::driver_server(&server)?;
            let Err(e) = support::take_down(cx, &server.backend, &told, &call(cx, "teardown")).await else {
                return remove(cx, &server, false).await;
            };
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "the driver did not take the share server down");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            if ask.goes_anyway() { remove(cx, &server, true).await } else { stays(cx, &server, &e.to_string()).await }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = deleting(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            if ask.goes_anyway() { remove(cx, &server, true).await } else { stays(cx, &server, "the teardown took too long").await }
        })
    }
}

/// The server, if this job still has something to do.
async fn deleting(cx: &JobContext) -> Result<Option<ShareServerRow>, TaskError> {
    let found = cx.app.store.share_server(&cx.job.resource_id).await?;
    Ok(found.map(|s| s.row).filter(|s| s.status == ServerStatus::Deleting.as_str()))
}

/// `leftover`: the array may hold something of it.
async fn remove(cx: &JobContext, server: &ShareServerRow, leftover: bool) -> Result<Outcome, TaskError> {
    let told = support::driver_server(server)?;
    let mut tx = cx.app.store.begin().await?;
    // in the order in which everybody holds them
    tx.share_network_held(&server.share_network_id).await?;
    let still = tx.share_server_locked(&server.id).await?.is_some_and(|s| s.status == ServerStatus::Deleting.as_str());
    if still {
        support::give_back(cx, &mut tx, &server.id).await?;
        tx.share_server_remove(&server.id).await?;
        tx.tombstone(&tombstone(server, &cx.job.request_id)).await?;
        tx.share_network_reap(&server.share_network_id).await?;
        cleanup::withdraw(&mut tx, &server.backend, &server.id).await?;
        if leftover {
            cleanup::leave(&mut tx, cx, &server.backend, &told).await?;
        }
    }
    settled(cx, tx).await
}

/// deleting -> error.
async fn stays(cx: &JobContext, server: &ShareServerRow, why: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.share_server_status(&server.id, &[ServerStatus::Deleting], ServerStatus::Error, clock::now()).await?;
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}

fn tombstone(server: &ShareServerRow, request_id: &str) -> Tombstone {
    Tombstone {
        kind: "share_server",
        id: server.id.clone(),
        project_id: server.project_id.clone(),
        sort_keys: to_tombstone::<ServerSort>(server),
        host: server.backend.clone(),
        request_id: request_id.to_owned(),
        ..Tombstone::default()
    }
}
