//! `share.manage`: the driver takes over what somebody else made; its size counts from then on.
//!
//! The driver's answer to a repeat is the first one: the share is known by our id. A failure that repeats do not cure ends in
//! `manage_error`, from where the share is let go of again; nothing is deleted on the back end.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    adopted::sized,
    block_support::call,
    share_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::share::ShareStatus,
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{Share, ShareUpdate, StringMap},
    },
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy::{event_now, growth},
    store::sql::{
        metadata::{MetadataOf, Pairs},
        shares::ShareRow,
    },
};

pub struct ShareManage;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// Where it is exported.
    path: String,
    /// For the driver.
    options: StringMap,
    tried: Tried,
}

const MANAGING: &[ShareStatus] = &[ShareStatus::Managing];

impl Task for ShareManage {
    fn kind(&self) -> &'static str {
        "share.manage"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = managing(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let told = support::driver_share(cx, &share).await?;
            let e = match adopt(cx, &share, &told, &ask).await {
                Ok((gib, update)) => return done(cx, &share, gib, update).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not take over the share");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            failed(cx, &share, ShareDetail::DriverFailedManage, e.user_text(), &e.to_string()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = managing(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            failed(cx, &share, ShareDetail::TookTooLong, "", "the back end did not finish in time").await
        })
    }
}

async fn managing(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    Ok(cx.app.store.share(&cx.job.resource_id).await?.filter(|s| s.status == ShareStatus::Managing.as_str()))
}

async fn adopt(cx: &JobContext, share: &ShareRow, told: &Share, ask: &Ask) -> DriverResult<(i64, ShareUpdate)> {
    let backend = cx.app.drivers.backend(share.backend().unwrap_or_default())?;
    let offers = backend.capabilities().is_none_or(|timed| timed.report.features.share_protocols.contains(&told.protocol));
    if !offers {
        let text = format!("shares of the protocol {} are not served here", share.share_proto);
        return Err(DriverError::new(ErrorKind::Invalid, text.clone()).for_user(text));
    }
    sized("share", backend.need_share_manage()?.adopt(&call(cx, "adopt"), told, &ask.path, &ask.options).await?)
}

async fn done(cx: &JobContext, share: &ShareRow, gib: i64, update: ShareUpdate) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    tx.share_locked(&share.id).await?;
    // false: somebody gave it another status meanwhile, or deletes it by force, which finds the object by our id
    if tx.share_managed(&share.id, gib, update.provider_id.as_deref(), update.provider_data.as_deref(), now).await? {
        tx.quota_count_in(&growth(share, gib)).await?;
        if let Some(host) = &share.host {
            tx.adopt_allocation(&share.id, host, gib).await?;
        }
        tx.share_locations_replace(&share.instance_id, &update.locations, now).await?;
        let pairs: Pairs = update.metadata.into_iter().collect();
        tx.metadata_put(MetadataOf::Share, &share.id, &pairs).await?;
        event_now(&mut tx, "share.manage.end", &share.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}

/// -> manage_error.
async fn failed(cx: &JobContext, share: &ShareRow, detail: ShareDetail, text: &str, why: &str) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.share_status(&share.id, MANAGING, ShareStatus::ManageError, clock::now()).await? {
        support::tell(&mut tx, cx, share, ShareAction::Manage, detail, text).await?;
        event_now(&mut tx, "share.manage.error", &share.id, &cx.job.request_id).await?;
    }
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}
