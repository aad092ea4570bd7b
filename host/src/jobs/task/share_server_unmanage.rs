//! `share_server.unmanage`: the driver forgets the server and leaves it alone; then its addresses are given back and its row
//! goes. The array goes on using the addresses: whoever keeps it in a subnet of ours keeps them out of the ranges.
//!
//! The driver answers success for what it does not know, so a repeat after a crash ends well. Any failure that repeats do not
//! cure ends in `unmanage_error`, from where it is tried again, unless the operator asked by force: then the server is forgotten
//! all the same.

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
    driver::{DriverResult, ErrorKind},
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    store::sql::share_servers::ShareServerRow,
};

pub struct ShareServerUnmanage;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Whatever the driver says.
    force: bool,
    tried: Tried,
}

const UNMANAGING: &[ServerStatus] = &[ServerStatus::Unmanaging];

impl Task for ShareServerUnmanage {
    fn kind(&self) -> &'static str {
        "share_server.unmanage"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Unmanaging).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let e = match release(cx, &server).await? {
                Ok(()) => return remove(cx, &server).await,
                Err(e) if e.kind == ErrorKind::NotFound => return remove(cx, &server).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %server.id, backend = server.backend, error = %e, "the driver did not let go of the share server");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            failed(cx, &server, &ask, ShareDetail::DriverFailedUnmanageServer, e.user_text(), &e.to_string()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(server) = support::in_status(cx, ServerStatus::Unmanaging).await? else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            let ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            failed(cx, &server, &ask, ShareDetail::TookTooLong, "", "the back end did not finish in time").await
        })
    }
}

async fn release(cx: &JobContext, server: &ShareServerRow) -> Result<DriverResult<()>, TaskError> {
    let told = support::driver_server(server)?;
    let details = Some(&told.details).filter(|_| server.details.is_some());
    let services = support::security_services(cx, &server.share_network_id).await?;
    let answer = async {
        let backend = cx.app.drivers.backend(&server.backend)?;
        backend.need_share_server_manage()?.release(&call(cx, "release"), &server.id, details, &services).await
    };
    Ok(answer.await)
}

async fn remove(cx: &JobContext, server: &ShareServerRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    // in the order in which everybody holds them
    tx.share_network_locked_if_deleted_too(&server.share_network_id).await?;
    // what is on the array stays there
    support::forget(cx, &mut tx, server, ServerStatus::Unmanaging).await?;
    settled(cx, tx).await
}

/// -> unmanage_error; or forgotten, by force.
async fn failed(
    cx: &JobContext,
    server: &ShareServerRow,
    ask: &Ask,
    detail: ShareDetail,
    text: &str,
    why: &str,
) -> Result<Outcome, TaskError> {
    if ask.force {
        return remove(cx, server).await;
    }
    let mut tx = cx.app.store.begin().await?;
    if tx.share_server_status(&server.id, UNMANAGING, ServerStatus::UnmanageError, clock::now()).await? {
        support::tell(&mut tx, cx, server, ShareAction::Unmanage, detail, text).await?;
    }
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}
