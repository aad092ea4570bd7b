//! `share.unmanage`: the driver forgets the share and leaves its data alone; then the rows go, its rules and locations with
//! them. A share server that it was on stays until somebody deletes it.
//!
//! The driver answers success for what it does not know, so a repeat after a crash ends well. One that takes no shares over
//! has nothing to forget. Any failure that repeats do not cure ends in `unmanage_error`, from where it is tried again.

use futures::future::BoxFuture;
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
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy,
    store::sql::shares::ShareRow,
};

pub struct ShareUnmanage;

const UNMANAGING: &[ShareStatus] = &[ShareStatus::Unmanaging];

impl Task for ShareUnmanage {
    fn kind(&self) -> &'static str {
        "share.unmanage"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = unmanaging(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tried = serde_json::from_value::<Tried>(cx.job.payload.clone()).unwrap_or_default().begin(cx.job.attempts);
            let e = match release(cx, &share).await? {
                Ok(()) => return remove(cx, &share).await,
                Err(e) if matches!(e.kind, ErrorKind::NotFound | ErrorKind::NotImplemented) => return remove(cx, &share).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not let go of the share");
            if let Some(after) = tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(tried), reason: e.to_string() });
            }
            failed(cx, &share, ShareDetail::DriverFailedUnmanage, e.user_text()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = unmanaging(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            failed(cx, &share, ShareDetail::TookTooLong, "").await
        })
    }
}

async fn unmanaging(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    Ok(cx.app.store.share(&cx.job.resource_id).await?.filter(|s| s.status == ShareStatus::Unmanaging.as_str()))
}

async fn release(cx: &JobContext, share: &ShareRow) -> Result<DriverResult<()>, TaskError> {
    let Some(backend) = share.backend() else { return Ok(Ok(())) };
    let told = support::driver_share(cx, share).await?;
    let answer = async { cx.app.drivers.backend(backend)?.need_share_manage()?.release(&call(cx, "release"), &told).await };
    Ok(answer.await)
}

async fn remove(cx: &JobContext, share: &ShareRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if let (Some(network), Some(server)) = (&share.share_network_id, &share.share_server_id) {
        // in the order in which everybody holds them
        tx.share_network_locked_if_deleted_too(network).await?;
        tx.share_server_keep(server, clock::now()).await?;
    }
    destroy::forget(&mut tx, share, UNMANAGING, "share.unmanage.end", &cx.job.request_id).await.map_err(support::given_back)?;
    settled(cx, tx).await
}

/// -> unmanage_error.
async fn failed(cx: &JobContext, share: &ShareRow, detail: ShareDetail, text: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_status(&share.id, UNMANAGING, ShareStatus::UnmanageError, clock::now()).await? {
        support::tell(&mut tx, cx, share, ShareAction::Unmanage, detail, text).await?;
        destroy::event_now(&mut tx, "share.unmanage.error", &share.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}
