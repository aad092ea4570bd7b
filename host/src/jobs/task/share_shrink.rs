//! `share.shrink`: the driver makes the share smaller; then its size is the new one, and quota and room are given back.
//!
//! A driver that refuses because data would be lost, or that cannot shrink at all, leaves the share as it was: available,
//! with a message. Any other failure that repeats do not cure ends in `shrinking_error` with the old size.

use futures::future::BoxFuture;

use super::{
    block_support::call,
    share_extend::Ask,
    share_support as support,
    tried::{settled, unless_fenced},
};
use crate::{
    clock,
    domain::share::ShareStatus,
    driver::{DriverResult, ErrorKind, types},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy::{event_now, growth},
    store::sql::shares::ShareRow,
};

pub struct ShareShrink;

impl Task for ShareShrink {
    fn kind(&self) -> &'static str {
        "share.shrink"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = Ask::read(cx)?;
            let Some(share) = ask.share(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            if share.status == ShareStatus::Deleting.as_str() {
                return failed(cx, &share, &ask, ShareStatus::ShrinkingError, None).await;
            }
            let told = support::driver_share(cx, &share).await?;
            let e = match shrink(cx, &share, &told, &ask).await {
                Ok(()) => return done(cx, &share, &ask).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not shrink the share");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(ask.again(after, e.to_string()));
            }
            let own_words = e.user_message.as_deref().unwrap_or_default();
            let (status, detail, text) = match e.kind {
                ErrorKind::DataLossRisk => (ShareStatus::Available, ShareDetail::DriverRefusedShrink, own_words),
                ErrorKind::NotImplemented | ErrorKind::Unsupported => (ShareStatus::Available, ShareDetail::DriverDoesNotShrink, own_words),
                _ => (ShareStatus::ShrinkingError, ShareDetail::DriverFailedShrink, e.user_text()),
            };
            failed(cx, &share, &ask, status, Some((detail, text))).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = Ask::read(cx)?;
            let Some(share) = ask.share(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            failed(cx, &share, &ask, ShareStatus::ShrinkingError, Some((ShareDetail::TookTooLong, ""))).await
        })
    }
}

async fn shrink(cx: &JobContext, share: &ShareRow, told: &types::Share, ask: &Ask) -> DriverResult<()> {
    let backend = cx.app.drivers.backend(share.backend().unwrap_or_default())?;
    let to = u64::try_from(ask.to_gib).unwrap_or(0);
    backend.need_share_shrink()?.shrink(&call(cx, "shrink"), told, to).await
}

async fn done(cx: &JobContext, share: &ShareRow, ask: &Ask) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.share_locked(&share.id).await? else { return settled(cx, tx).await };
    if tx.share_end_resize(&row.id, ask.to_gib, ShareStatus::Shrinking, true, ShareStatus::Available, clock::now()).await? {
        let by = row.size_gib - ask.to_gib;
        tx.quota_change(&growth(&row, -by)).await.map_err(support::given_back)?;
        tx.shrink_allocation(&row.id, by).await?;
        event_now(&mut tx, "share.shrink.end", &row.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}

/// The share has its old size, with a message unless it is going anyway.
async fn failed(
    cx: &JobContext,
    share: &ShareRow,
    ask: &Ask,
    status: ShareStatus,
    why: Option<(ShareDetail, &str)>,
) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let ended = tx.share_end_resize(&share.id, ask.to_gib, ShareStatus::Shrinking, false, status, clock::now()).await?;
    if ended {
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, share, ShareAction::Shrink, detail, text).await?;
        }
        event_now(&mut tx, "share.shrink.error", &share.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}
