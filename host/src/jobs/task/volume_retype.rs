//! `volume.retype`: the driver gives the volume the properties of another type where it is; then it has that type.
//!
//! Types whose specs are the same need no driver. What the driver cannot change in place goes on as a `volume.migrate`, if its
//! user permits a copy. What fails or takes too long leaves the volume with its old type and its earlier status, and a
//! message; the new type's figures are given back. A failure that may have changed the volume all the same is repeated, then
//! changed back; where that is not certain either, the message says so.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support as support,
    snapshot_support::{Tried, settled, unless_fenced},
    volume_migrate::Plan,
};
use crate::{
    clock,
    domain::{volume::VolumeStatus, volume_type},
    driver::{
        Call, DriverResult, ErrorKind,
        types::{NewType, RetypeOutcome, Volume, VolumeUpdate},
    },
    jobs::{JobContext, NewJob, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    quota::QuotaError,
    service::volume::{destroy::event_now, retype::Held},
    store::{
        Tx,
        sql::{
            qos_specs::QosSpecs,
            types::{Type, TypeOf},
            volume_work::ProviderUpdate,
            volumes::VolumeRow,
        },
    },
};

pub struct VolumeRetype;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    /// The new type's id.
    to: String,
    /// The volume may be copied if there is no other way.
    #[serde(default)]
    on_demand: bool,
    #[serde(default)]
    tried: Tried,
}

fn ask(cx: &JobContext) -> Result<Ask, TaskError> {
    let ask: Ask =
        serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
    Ok(Ask { tried: ask.tried.begin(cx.job.attempts), ..ask })
}

/// The event of a retype that did not retype.
const ERROR: &str = "volume.retype.error";

impl Task for VolumeRetype {
    fn kind(&self) -> &'static str {
        "volume.retype"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = ask(cx)?;
            let Some(volume) = mine(cx, &ask).await? else { return not_ours(cx).await };
            let Some(to) = cx.app.store.resource_type(TypeOf::Volume, &ask.to).await? else {
                return Err(TaskError::Other("the new type is gone".to_owned()));
            };
            if volume.status == VolumeStatus::Deleting.as_str() {
                return failed(cx, &volume, &ask, None, None).await;
            }
            match retype(cx, &volume, &to).await? {
                Ok(RetypeOutcome::Done(update)) => done(cx, &volume, &to, update).await,
                Ok(RetypeOutcome::NeedsMigration) if !ask.tried.uncertain => by_copy(cx, &volume, &ask).await,
                Ok(RetypeOutcome::NeedsMigration) => give_up(cx, &volume, &to, &ask, Detail::NeedsMigration, "").await,
                Err(e) if ask.on_demand && !ask.tried.uncertain && matches!(e.kind, ErrorKind::Unsupported | ErrorKind::NotImplemented) => {
                    by_copy(cx, &volume, &ask).await
                }
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not retype the volume");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    give_up(cx, &volume, &to, &ask, Detail::DriverFailedRetype, e.user_text()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask = ask(cx)?;
            let Some(volume) = mine(cx, &ask).await? else { return not_ours(cx).await };
            let why = format!("The volume has its old type.{}", if ask.tried.uncertain { MAYBE } else { "" });
            failed(cx, &volume, &ask, Some((Detail::TookTooLong, &why)), None).await
        })
    }
}

/// What a user reads when the array may have done what we could not learn of.
const MAYBE: &str = " The storage back end may have given it properties of the new type all the same; retype it again to settle that.";

/// The volume is gone, or this retype was ended already.
async fn not_ours(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    event_now(&mut tx, ERROR, &cx.job.resource_id, &cx.job.request_id).await?;
    settled(cx, tx).await
}

/// The volume, while this retype is under way.
async fn mine(cx: &JobContext, ask: &Ask) -> Result<Option<VolumeRow>, TaskError> {
    Ok(cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| v.retype_to.as_deref() == Some(ask.to.as_str())))
}

async fn retype(cx: &JobContext, volume: &VolumeRow, to: &Type) -> Result<DriverResult<RetypeOutcome>, TaskError> {
    let told = support::driver_volume(cx, volume).await?;
    let specs: BTreeMap<String, String> = to.specs.iter().cloned().collect();
    let qos = back_end_qos(cx, to).await?;
    if specs == told.specs && qos == told.qos {
        return Ok(Ok(RetypeOutcome::Done(VolumeUpdate::default())));
    }
    let new = NewType { specs, qos, multiattach: volume_type::is_multiattach(to.specs()), pool: told.pool.clone() };
    Ok(ask_driver(cx, &support::call(cx, "retype"), volume, &told, &new).await)
}

/// The QoS specs that the back end keeps for volumes of this type.
async fn back_end_qos(cx: &JobContext, of: &Type) -> Result<BTreeMap<String, String>, TaskError> {
    let found = support::qos_of_type(cx, &of.row.id).await?;
    Ok(found.and_then(QosSpecs::at_the_back_end).unwrap_or_default())
}

async fn ask_driver(cx: &JobContext, call: &Call, volume: &VolumeRow, told: &Volume, new: &NewType) -> DriverResult<RetypeOutcome> {
    let backend = cx.app.drivers.backend(volume.backend().unwrap_or_default())?;
    backend.need_volume_retype()?.retype(call, told, new).await
}

/// Repeats did not help. What the array may have changed all the same is changed back, or the user is told.
async fn give_up(cx: &JobContext, volume: &VolumeRow, to: &Type, ask: &Ask, detail: Detail, text: &str) -> Result<Outcome, TaskError> {
    if !ask.tried.uncertain {
        return failed(cx, volume, ask, Some((detail, text)), None).await;
    }
    let undone = undo(cx, volume, to).await?;
    let text = if undone.is_some() { text.to_owned() } else { format!("{text}{MAYBE}").trim_start().to_owned() };
    failed(cx, volume, ask, Some((detail, &text)), undone).await
}

/// Retypes back to the type the volume has in the database: newer than what it takes back, which may still be on its way.
/// None: that is not certain to have happened, either.
async fn undo(cx: &JobContext, volume: &VolumeRow, to: &Type) -> Result<Option<VolumeUpdate>, TaskError> {
    let mut told = support::driver_volume(cx, volume).await?;
    let qos = back_end_qos(cx, to).await?;
    let old = NewType {
        specs: std::mem::replace(&mut told.specs, to.specs.iter().cloned().collect()),
        qos: std::mem::replace(&mut told.qos, qos),
        multiattach: volume.multiattach,
        pool: told.pool.clone(),
    };
    match ask_driver(cx, &support::undo_call(cx, "retype-back"), volume, &told, &old).await {
        Ok(RetypeOutcome::Done(update)) => Ok(Some(update)),
        Ok(RetypeOutcome::NeedsMigration) => Ok(None),
        Err(e) => {
            unless_fenced(&e)?;
            tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not give the volume its old type back");
            Ok(None)
        }
    }
}

async fn done(cx: &JobContext, volume: &VolumeRow, to: &Type, update: VolumeUpdate) -> Result<Outcome, TaskError> {
    let multiattach = volume_type::is_multiattach(to.specs());
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.volume_locked(&volume.id).await? else { return settled(cx, tx).await };
    if tx.volume_end_retype(&row.id, &to.row.id, Some(multiattach), &provider(update), clock::now()).await? {
        give_back(&mut tx, &row, &row.volume_type_id).await?;
        // the name under which upstream tells it, and the one that every verb's end has here
        event_now(&mut tx, "volume.retype", &row.id, &cx.job.request_id).await?;
        event_now(&mut tx, "volume.retype.end", &row.id, &cx.job.request_id).await?;
    } else {
        event_now(&mut tx, ERROR, &row.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}

/// Goes on as a move to a new object, if that was asked for and nobody uses the volume.
async fn by_copy(cx: &JobContext, volume: &VolumeRow, ask: &Ask) -> Result<Outcome, TaskError> {
    if ask.on_demand {
        let plan = Plan::retype(&ask.to);
        let job = NewJob {
            kind: "volume.migrate",
            resource_kind: "volume",
            order_key: volume.id.clone(),
            resource_id: volume.id.clone(),
            backend: None,
            payload: json!(plan),
            max_age: cx.app.config.get().copy.max_age,
            request_id: cx.job.request_id.clone(),
            project_id: cx.job.project_id.clone(),
            user_id: cx.job.user_id.clone(),
        };
        let mut tx = cx.app.store.begin().await?;
        let idle =
            tx.volume_locked(&volume.id).await?.is_some_and(|v| v.previous_status.as_deref() == Some(VolumeStatus::Available.as_str()));
        let id = tx.enqueue(&cx.app.jobs, job).await?;
        if idle && tx.volume_begin_migration(&volume.id, &[VolumeStatus::Retyping], &id, false, clock::now()).await? {
            return settled(cx, tx).await;
        }
        tx.rollback().await?;
    }
    failed(
        cx,
        volume,
        ask,
        Some((Detail::NeedsMigration, "The volume must be detached and without snapshots, and the policy on-demand.")),
        None,
    )
    .await
}

fn provider(update: VolumeUpdate) -> ProviderUpdate {
    ProviderUpdate { provider_id: update.provider_id, provider_data: update.provider_data }
}

/// Back to the earlier status, with a message unless the volume is going anyway. `undone` is what the driver said when it
/// gave the volume its old type back.
async fn failed(
    cx: &JobContext,
    volume: &VolumeRow,
    ask: &Ask,
    why: Option<(Detail, &str)>,
    undone: Option<VolumeUpdate>,
) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let Some(row) = tx.volume_locked(&volume.id).await? else { return settled(cx, tx).await };
    if tx.volume_end_retype(&row.id, &ask.to, None, &provider(undone.unwrap_or_default()), clock::now()).await? {
        give_back(&mut tx, &row, &ask.to).await?;
        if let Some((detail, text)) = why {
            support::tell(&mut tx, cx, &row, Action::RetypeVolume, detail, text).await?;
        }
    }
    event_now(&mut tx, ERROR, &row.id, &cx.job.request_id).await?;
    settled(cx, tx).await
}

/// The volume and its snapshots no longer count for this type.
pub(super) async fn give_back(tx: &mut Tx, volume: &VolumeRow, type_id: &str) -> Result<(), TaskError> {
    let snapshots = tx.snapshots_in_quota(&volume.id).await?;
    let Some(name) = tx.type_name_kept(TypeOf::Volume, type_id).await? else { return Ok(()) };
    let figures = Held { volume, snapshots }.quota(&name, -1);
    tx.quota_change(&figures).await.map_err(|e| match e {
        QuotaError::Store(e) => TaskError::from(e),
        other => TaskError::Other(other.to_string()),
    })
}
