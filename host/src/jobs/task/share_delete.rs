//! `share.delete`: the driver's delete, then the rows go; its rules and locations with it.
//!
//! The driver answers success for what is gone, so a repeat after a crash ends well. Busy gives a share back that was
//! available; any other failure that repeats do not cure ends in `error_deleting`, from where an operator deletes it by force.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share::ShareStatus,
    driver::{DriverResult, ErrorKind},
    error::Kind,
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::{share::destroy, share_server::delete::begin_if_idle},
    store::sql::shares::ShareRow,
};

pub struct ShareDelete;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Its status before: one that was never whole does not become available.
    was: Option<String>,
    tried: Tried,
}

const DELETING: &[ShareStatus] = &[ShareStatus::Deleting];

impl Task for ShareDelete {
    fn kind(&self) -> &'static str {
        "share.delete"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = deleting(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            if let Some(backend) = share.backend()
                && let Some(later) = cx.change_lane(backend, &json!(ask)).await
            {
                return Ok(later); // a share that was placed after its delete was asked for
            }
            let e = match delete(cx, &share).await? {
                Ok(()) => return remove(cx, &share).await,
                Err(e) if e.kind == ErrorKind::NotFound => return remove(cx, &share).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not delete the share");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            if e.kind == ErrorKind::Busy {
                let whole = ask.was.as_deref() == Some(ShareStatus::Available.as_str());
                let status = if whole { ShareStatus::Available } else { ShareStatus::ErrorDeleting };
                return end(cx, &share, status, ShareDetail::ShareIsBusy, e.user_message.as_deref().unwrap_or("")).await;
            }
            end(cx, &share, ShareStatus::ErrorDeleting, ShareDetail::DriverFailedDelete, e.user_text()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = deleting(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            end(cx, &share, ShareStatus::ErrorDeleting, ShareDetail::TookTooLong, "").await
        })
    }
}

/// The share, if this job still has something to do.
async fn deleting(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    Ok(cx.app.store.share(&cx.job.resource_id).await?.filter(|s| s.status == ShareStatus::Deleting.as_str()))
}

async fn delete(cx: &JobContext, share: &ShareRow) -> Result<DriverResult<()>, TaskError> {
    let Some(backend) = share.backend() else { return Ok(Ok(())) };
    let told = support::driver_share(cx, share).await?;
    let answer = async { cx.app.drivers.backend(backend)?.need_shares()?.delete(&call(cx, "delete"), &told).await };
    Ok(answer.await)
}

async fn remove(cx: &JobContext, share: &ShareRow) -> Result<Outcome, TaskError> {
    let with_server = cx.app.config.get().share.delete_share_server_with_last_share;
    let server = share.share_server_id.as_deref().filter(|_| with_server);
    let mut tx = cx.app.store.begin().await?;
    if let (Some(_), Some(network)) = (server, &share.share_network_id) {
        // in the order in which everybody holds them
        tx.share_network_locked_if_deleted_too(network).await?;
    }
    destroy::remove(&mut tx, share, DELETING, &cx.job.request_id).await.map_err(support::given_back)?;
    if let Some(server) = server {
        match begin_if_idle(&mut tx, &cx.app, server, clock::now()).await {
            Ok(_) => {}
            // it stays until it has been idle for long
            Err(e) if e.kind == Kind::Conflict => tracing::debug!(share_server_id = server, error = %e, "a share server stays for now"),
            Err(e) => return Err(TaskError::Other(e.to_string())),
        }
    }
    settled(cx, tx).await
}

async fn end(cx: &JobContext, share: &ShareRow, status: ShareStatus, detail: ShareDetail, extra: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_status(&share.id, DELETING, status, clock::now()).await? {
        support::tell(&mut tx, cx, share, ShareAction::Delete, detail, extra).await?;
        destroy::event_now(&mut tx, "share.delete.error", &share.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}
