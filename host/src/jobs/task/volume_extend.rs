//! `volume.extend`: the driver makes the volume larger; then its size is the new one and it is what it was before.
//!
//! "Already that large" is success, so a repeat after a crash ends well. A failure that repeats do not cure ends in
//! `error_extending` with the old size; quota and room are given back, the room with a later report when the array may have
//! grown the volume all the same. A volume that is being deleted by force gives them back without asking the driver.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support as support,
    snapshot_support::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::volume::VolumeStatus,
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{self, Answer, PollOutcome, VolumeUpdate},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    quota::QuotaError,
    service::volume::{destroy::event_now, extend::quota},
    store::sql::types::TypeOf,
    store::sql::{volume_work::ProviderUpdate, volumes::VolumeRow},
};

pub struct VolumeExtend;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    to_gib: i64,
    /// The array works on it; how to ask.
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    tried: Tried,
}

fn ask(cx: &JobContext) -> Result<Ask, TaskError> {
    let ask: Ask =
        serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
    Ok(Ask { tried: ask.tried.begin(cx.job.attempts), ..ask })
}

impl Task for VolumeExtend {
    fn kind(&self) -> &'static str {
        "volume.extend"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = ask(cx)?;
            let Some(volume) = mine(cx, &ask).await? else { return not_ours(cx).await };
            if volume.status == VolumeStatus::Deleting.as_str() {
                return failed(cx, &volume, &ask, None).await;
            }
            let told = support::driver_volume(cx, &volume).await?;
            match extend(cx, &volume, &told, &ask).await {
                Ok(Answer::Done(update)) => done(cx, &volume, &ask, update).await,
                Ok(Answer::Pending(pending)) => {
                    ask.tried.failures = 0;
                    ask.tried.uncertain = true;
                    ask.token = Some(pending.token);
                    let reason = "the back end works on it".to_owned();
                    Ok(Outcome::Again { after: pending.retry_after, payload: json!(ask), reason })
                }
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not extend the volume");
                    if e.kind == ErrorKind::NotFound && ask.token.take().is_some() {
                        // the array has forgotten the work's outcome: the verb itself finds it
                        return Ok(Outcome::Again { after: std::time::Duration::ZERO, payload: json!(ask), reason: e.to_string() });
                    }
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &volume, &ask, Some((Detail::DriverFailedExtend, e.user_text()))).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = ask(cx)?;
            let Some(volume) = mine(cx, &ask).await? else { return not_ours(cx).await };
            ask.tried.uncertain = true;
            failed(cx, &volume, &ask, Some((Detail::TookTooLong, "The volume has its old size."))).await
        })
    }
}

/// The event of an extend that did not extend.
const ERROR: &str = "volume.resize.error";

/// The volume is gone, or this extend was ended already.
async fn not_ours(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    event_now(&mut tx, ERROR, &cx.job.resource_id, &cx.job.request_id).await?;
    settled(cx, tx).await
}

/// The volume, while this extend is under way.
async fn mine(cx: &JobContext, ask: &Ask) -> Result<Option<VolumeRow>, TaskError> {
    Ok(cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| v.extend_to == Some(ask.to_gib)))
}

async fn extend(cx: &JobContext, volume: &VolumeRow, told: &types::Volume, ask: &Ask) -> DriverResult<Answer<VolumeUpdate>> {
    let backend = cx.app.drivers.backend(volume.backend().unwrap_or_default())?;
    let Some(token) = &ask.token else {
        let to = u64::try_from(ask.to_gib).unwrap_or(0);
        return backend.need_volumes()?.extend(&support::call(cx, "extend"), told, to).await;
    };
    match backend.need_poll()?.poll(&support::call(cx, "poll"), token).await? {
        PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
        PollOutcome::Volume(update) => Ok(Answer::Done(update)),
        other => Err(DriverError::wrong_answer(format!("the work of a volume's extend ended as {other:?}"))),
    }
}

async fn done(cx: &JobContext, volume: &VolumeRow, ask: &Ask, update: VolumeUpdate) -> Result<Outcome, TaskError> {
    let update = ProviderUpdate { provider_id: update.provider_id, provider_data: update.provider_data };
    let mut tx = cx.app.store.begin().await?;
    tx.volume_locked(&volume.id).await?;
    let grown = tx.volume_end_extend(&volume.id, ask.to_gib, Some(&update), None, clock::now()).await?;
    event_now(&mut tx, if grown { "volume.resize.end" } else { ERROR }, &volume.id, &cx.job.request_id).await?;
    tx.settle_claim(&volume.id).await?;
    settled(cx, tx).await
}

/// -> error_extending, with a message unless the volume is going anyway.
async fn failed(cx: &JobContext, volume: &VolumeRow, ask: &Ask, why: Option<(Detail, &str)>) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.volume_locked(&volume.id).await? else { return settled(cx, tx).await };
    if tx.volume_end_extend(&row.id, ask.to_gib, None, Some(VolumeStatus::ErrorExtending), clock::now()).await? {
        let type_name = tx.type_name_kept(TypeOf::Volume, &row.volume_type_id).await?.unwrap_or_else(|| row.type_name.clone());
        let given_back = tx.quota_change(&quota(&row.project_id, &type_name, row.size_gib - ask.to_gib)).await;
        given_back.map_err(|e| match e {
            QuotaError::Store(e) => TaskError::from(e),
            other => TaskError::Other(other.to_string()),
        })?;
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, &row, Action::ExtendVolume, detail, text).await?;
        }
    }
    event_now(&mut tx, ERROR, &row.id, &cx.job.request_id).await?;
    if ask.tried.uncertain {
        tx.forget_growth(&volume.id).await?;
    } else {
        tx.release_claim(&volume.id).await?;
    }
    settled(cx, tx).await
}
