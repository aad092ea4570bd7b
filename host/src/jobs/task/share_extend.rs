//! `share.extend`: the driver makes the share larger; then its size is the new one and it is available again.
//!
//! "Already that large" is success, so a repeat after a crash ends well. A failure that repeats do not cure ends in
//! `extending_error` with the old size; quota and room are given back, the room with a later report when the array may have
//! grown the share all the same. A share that is being deleted by force gives them back without asking the driver.

use std::time::Duration;

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
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{self, Answer, PollOutcome},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy::{event_now, growth},
    store::sql::shares::ShareRow,
};

pub struct ShareExtend;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    pub to_gib: i64,
    /// The array works on it; how to ask.
    #[serde(default)]
    pub token: Option<String>,
    #[serde(default)]
    pub tried: Tried,
}

impl Ask {
    pub fn read(cx: &JobContext) -> Result<Self, TaskError> {
        let ask: Self =
            serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
        Ok(Self { tried: ask.tried.begin(cx.job.attempts), ..ask })
    }

    /// The share, while this resize is under way.
    pub async fn share(&self, cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
        Ok(cx.app.store.share(&cx.job.resource_id).await?.filter(|s| s.resize_to == Some(self.to_gib)))
    }

    pub fn again(&self, after: Duration, reason: String) -> Outcome {
        Outcome::Again { after, payload: json!(self), reason }
    }
}

impl Task for ShareExtend {
    fn kind(&self) -> &'static str {
        "share.extend"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = Ask::read(cx)?;
            let Some(share) = ask.share(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            if share.status == ShareStatus::Deleting.as_str() {
                return failed(cx, &share, &ask, None).await;
            }
            let told = support::driver_share(cx, &share).await?;
            let e = match extend(cx, &share, &told, &ask).await {
                Ok(Answer::Done(())) => return done(cx, &share, &ask).await,
                Ok(Answer::Pending(pending)) => {
                    ask.tried.failures = 0;
                    ask.tried.uncertain = true;
                    ask.token = Some(pending.token);
                    return Ok(ask.again(pending.retry_after, "the back end works on it".to_owned()));
                }
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not extend the share");
            if e.kind == ErrorKind::NotFound && ask.token.take().is_some() {
                // the array has forgotten the work's outcome: the verb itself finds it
                return Ok(ask.again(Duration::ZERO, e.to_string()));
            }
            if let Some(after) = ask.tried.again(&e) {
                return Ok(ask.again(after, e.to_string()));
            }
            failed(cx, &share, &ask, Some((ShareDetail::DriverRefusedExtend, e.user_text()))).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = Ask::read(cx)?;
            let Some(share) = ask.share(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            ask.tried.uncertain = true;
            failed(cx, &share, &ask, Some((ShareDetail::TookTooLong, "The share has its old size."))).await
        })
    }
}

async fn extend(cx: &JobContext, share: &ShareRow, told: &types::Share, ask: &Ask) -> DriverResult<Answer<()>> {
    let backend = cx.app.drivers.backend(share.backend().unwrap_or_default())?;
    let Some(token) = &ask.token else {
        let to = u64::try_from(ask.to_gib).unwrap_or(0);
        return backend.need_shares()?.extend(&call(cx, "extend"), told, to).await;
    };
    match backend.need_poll()?.poll(&call(cx, "poll"), token).await? {
        PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
        PollOutcome::Resized => Ok(Answer::Done(())),
        other => Err(DriverError::wrong_answer(format!("the work of a share's extend ended as {other:?}"))),
    }
}

async fn done(cx: &JobContext, share: &ShareRow, ask: &Ask) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.share_locked(&share.id).await?;
    if tx.share_end_resize(&share.id, ask.to_gib, ShareStatus::Extending, true, ShareStatus::Available, clock::now()).await? {
        event_now(&mut tx, "share.extend.end", &share.id, &cx.job.request_id).await?;
    }
    tx.settle_claim(&share.id).await?;
    settled(cx, tx).await
}

/// -> extending_error, with a message unless the share is going anyway.
async fn failed(cx: &JobContext, share: &ShareRow, ask: &Ask, why: Option<(ShareDetail, &str)>) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.share_locked(&share.id).await? else { return settled(cx, tx).await };
    if tx.share_end_resize(&row.id, ask.to_gib, ShareStatus::Extending, false, ShareStatus::ExtendingError, clock::now()).await? {
        tx.quota_change(&growth(&row, row.size_gib - ask.to_gib)).await.map_err(support::given_back)?;
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, &row, ShareAction::Extend, detail, text).await?;
        }
        event_now(&mut tx, "share.extend.error", &row.id, &cx.job.request_id).await?;
    }
    if ask.tried.uncertain {
        tx.forget_growth(&share.id).await?;
    } else {
        tx.release_claim(&share.id).await?;
    }
    settled(cx, tx).await
}
