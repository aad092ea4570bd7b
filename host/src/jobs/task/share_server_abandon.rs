//! `share_server.abandon`: a share server has moved away; what is left of its shares on the back end that it was on is removed,
//! then the server itself is torn down, as any other.
//!
//! What was there that nobody knows of did not move: a server that somebody else made stays, inactive, until an operator deletes
//! it. So does one whose driver does not remove what is left, with a message: it is tried for days before.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_server_support::{self as support, in_status},
    tried::{settled, unless_fenced},
};
use crate::{
    clock,
    domain::share_server::ServerStatus,
    driver::{
        DriverResult, ErrorKind,
        types::{Share, ShareServer, ShareSnapshot},
    },
    error::Kind,
    jobs::{JobContext, JobFault, NewJob, Outcome, Task, TaskError, backoff},
    notify::share_message::{ShareAction, ShareDetail},
    store::sql::share_servers::ShareServerRow,
};

const KIND: &str = "share_server.abandon";
/// How long it is tried.
const AGE: Duration = Duration::from_secs(7 * 24 * 3600);

pub struct ShareServerAbandon;

/// What was on the server, as its driver was told of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Left {
    pub server: ShareServer,
    pub shares: Vec<Share>,
    pub snapshots: Vec<ShareSnapshot>,
}

pub fn job(cx: &JobContext, server: &ShareServerRow) -> NewJob {
    NewJob { max_age: AGE, ..support::job(cx, KIND, &server.id, &server.backend, json!({})) }
}

impl Task for ShareServerAbandon {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            // who deletes it has that done first
            let Some(server) = in_status(cx, ServerStatus::Inactive).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            match remove_left(cx, &server).await? {
                Ok(()) => end(cx, &server).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "the driver did not remove what a share server left behind");
                    let failures = cx.job.payload["failures"].as_i64().unwrap_or(0) + 1;
                    let after = e.retry_after.unwrap_or_else(|| backoff(failures)).max(Duration::from_secs(1));
                    Ok(Outcome::Again { after, payload: json!({ "failures": failures }), reason: e.to_string() })
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut tx = cx.app.store.begin().await?;
            if let Some(server) = in_status(cx, ServerStatus::Inactive).await? {
                support::tell(&mut tx, cx, &server, ShareAction::MigrateServer, ShareDetail::ServerLeftBehind, "").await?;
            }
            let fault = JobFault { kind: Kind::Internal, message: "what the share server left behind was not removed".to_owned() };
            cx.settle(tx, Err(fault)).await?;
            Ok(Outcome::Settled)
        })
    }
}

/// Removes what the server left behind when it moved away, if anything is left.
pub async fn remove_left(cx: &JobContext, server: &ShareServerRow) -> Result<DriverResult<()>, TaskError> {
    let Some(text) = cx.app.store.left_behind(&server.id).await? else { return Ok(Ok(())) };
    let left: Left = serde_json::from_str(&text).map_err(|e| TaskError::Other(format!("share_servers.left_behind: {e}")))?;
    let answer = async {
        let backend = cx.app.drivers.backend(&server.backend)?;
        backend.need_share_server_migration()?.abandon(&call(cx, "abandon"), &left.server, &left.shares, &left.snapshots).await
    };
    match answer.await {
        Err(e) if e.kind != ErrorKind::NotFound => return Ok(Err(e)),
        _ => {}
    }
    let mut tx = cx.app.store.begin().await?;
    tx.leaves_behind(&server.id, None).await?;
    cx.commit_step(tx).await?;
    Ok(Ok(()))
}

/// inactive -> deleting, with the job that tears it down.
async fn end(cx: &JobContext, server: &ShareServerRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    // the network first, as everybody who changes servers does
    tx.share_network_locked_if_deleted_too(&server.share_network_id).await?;
    let empty = tx.share_server_locked(&server.id).await?.is_some() && tx.share_server_share_count(&server.id).await? == 0;
    if server.is_auto_deletable
        && empty
        && tx.share_server_status(&server.id, &[ServerStatus::Inactive], ServerStatus::Deleting, clock::now()).await?
    {
        let payload = json!({ "was": ServerStatus::Inactive.as_str() });
        tx.enqueue(&cx.app.jobs, support::job(cx, "share_server.delete", &server.id, &server.backend, payload)).await?;
    }
    settled(cx, tx).await
}
