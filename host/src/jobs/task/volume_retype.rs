//! `volume.retype`: the driver gives the volume the properties of another type where it is; then it has that type.
//!
//! Types whose specs are the same need no driver. What cannot be changed in place, fails, or takes too long leaves the volume
//! with its old type and its earlier status, and a message; the new type's figures are given back.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support as support,
    snapshot_support::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::{volume::VolumeStatus, volume_type},
    driver::{
        DriverResult,
        types::{NewType, RetypeOutcome, VolumeUpdate},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    quota::QuotaError,
    service::volume::{destroy::event, retype::Held},
    store::{
        Tx,
        sql::{volume_types::VolumeType, volume_work::ProviderUpdate, volumes::VolumeRow},
    },
};

pub struct VolumeRetype;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    /// The new type's id.
    to: String,
    #[serde(default)]
    tried: Tried,
}

fn ask(cx: &JobContext) -> Result<Ask, TaskError> {
    serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))
}

impl Task for VolumeRetype {
    fn kind(&self) -> &'static str {
        "volume.retype"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = ask(cx)?;
            let Some(volume) = mine(cx, &ask).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let Some(to) = cx.app.store.volume_type(&ask.to).await? else {
                return Err(TaskError::Other("the new type is gone".to_owned()));
            };
            if volume.status == VolumeStatus::Deleting.as_str() {
                return failed(cx, &volume, &ask, None).await;
            }
            match retype(cx, &volume, &to).await? {
                Ok(RetypeOutcome::Done(update)) => done(cx, &volume, &to, update).await,
                Ok(RetypeOutcome::NeedsMigration) => failed(cx, &volume, &ask, Some((Detail::NeedsMigration, ""))).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not retype the volume");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &volume, &ask, Some((Detail::DriverFailedRetype, e.user_text()))).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = ask(cx)?;
            let Some(volume) = mine(cx, &ask).await? else { return settled(cx, cx.app.store.begin().await?).await };
            failed(cx, &volume, &ask, Some((Detail::TookTooLong, "The volume has its old type."))).await
        })
    }
}

/// The volume, while this retype is under way.
async fn mine(cx: &JobContext, ask: &Ask) -> Result<Option<VolumeRow>, TaskError> {
    Ok(cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| v.retype_to.as_deref() == Some(ask.to.as_str())))
}

async fn retype(cx: &JobContext, volume: &VolumeRow, to: &VolumeType) -> Result<DriverResult<RetypeOutcome>, TaskError> {
    let told = support::driver_volume(cx, volume).await?;
    let specs: BTreeMap<String, String> = to.specs.iter().cloned().collect();
    if specs == told.specs {
        return Ok(Ok(RetypeOutcome::Done(VolumeUpdate::default())));
    }
    let new = NewType { specs, qos: BTreeMap::new(), multiattach: volume_type::is_multiattach(to.specs()), pool: told.pool.clone() };
    let answer = async {
        let backend = cx.app.drivers.backend(volume.backend().unwrap_or_default())?;
        backend.need_volume_retype()?.retype(&support::call(cx, "retype"), &told, &new).await
    };
    Ok(answer.await)
}

async fn done(cx: &JobContext, volume: &VolumeRow, to: &VolumeType, update: VolumeUpdate) -> Result<Outcome, TaskError> {
    let update = ProviderUpdate { provider_id: update.provider_id, provider_data: update.provider_data };
    let multiattach = volume_type::is_multiattach(to.specs());
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.volume_locked(&volume.id).await? else { return settled(cx, tx).await };
    if tx.volume_end_retype(&row.id, &to.row.id, Some((&update, multiattach)), clock::now()).await? {
        give_back(&mut tx, &row, &row.volume_type_id).await?;
        if let Some(now) = tx.volume(&row.id).await? {
            event(&mut tx, "volume.retype", &now, &cx.job.request_id).await?;
        }
    }
    settled(cx, tx).await
}

/// Back to the earlier status, with a message unless the volume is going anyway.
async fn failed(cx: &JobContext, volume: &VolumeRow, ask: &Ask, why: Option<(Detail, &str)>) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.volume_locked(&volume.id).await? else { return settled(cx, tx).await };
    if tx.volume_end_retype(&row.id, &ask.to, None, clock::now()).await? {
        give_back(&mut tx, &row, &ask.to).await?;
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, &row, Action::RetypeVolume, detail, text).await?;
        }
    }
    settled(cx, tx).await
}

/// The volume and its snapshots no longer count for this type.
async fn give_back(tx: &mut Tx, volume: &VolumeRow, type_id: &str) -> Result<(), TaskError> {
    let snapshots = tx.snapshots_in_quota(&volume.id).await?;
    let Some(name) = tx.volume_type_name_kept(type_id).await? else { return Ok(()) };
    let figures = Held { volume, snapshots }.quota(&name, -1);
    tx.quota_change(&figures).await.map_err(|e| match e {
        QuotaError::Store(e) => TaskError::from(e),
        other => TaskError::Other(other.to_string()),
    })
}
