//! What the block tasks have in common: the driver's picture of a volume, the call, messages, clean-up jobs.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    clock,
    domain::host::pool_of,
    driver::{Call, DriverError, DriverResult, block::Volumes, types},
    error::Kind,
    jobs::{JobContext, JobFault},
    notify::message::{Action, Detail, NewMessage, Resource},
    store::sql::{metadata::MetadataOf, qos_specs::QosSpecs, types::TypeOf},
    store::{StoreResult, Tx, sql::volumes::VolumeRow},
};

/// What an undo gets at least.
const UNDO_TIME: Duration = Duration::from_secs(30);

/// The volume as the driver is told of it.
pub async fn driver_volume(cx: &JobContext, volume: &VolumeRow) -> StoreResult<types::Volume> {
    let metadata = cx.app.store.metadata(MetadataOf::Volume, &volume.id).await?;
    let specs = specs_of(cx, volume).await?;
    let qos = qos_of_type(cx, &volume.volume_type_id).await?;
    let pool = volume.host.as_deref().map_or("", pool_of);
    Ok(types::Volume {
        id: volume.driver_id().to_owned(),
        name: volume.name.clone().unwrap_or_default(),
        project_id: volume.project_id.clone(),
        pool: pool.to_owned(),
        size_gib: u64::try_from(volume.size_gib).unwrap_or(0),
        multiattach: volume.multiattach,
        provider_id: volume.provider_id.clone(),
        provider_data: volume.provider_data.clone(),
        specs,
        qos: qos.and_then(QosSpecs::at_the_back_end).unwrap_or_default(),
        metadata: metadata.into_iter().collect(),
    })
}

/// The extra specs of a volume's type.
pub async fn specs_of(cx: &JobContext, volume: &VolumeRow) -> StoreResult<BTreeMap<String, String>> {
    Ok(cx.app.store.resource_type(TypeOf::Volume, &volume.volume_type_id).await?.map(|t| t.specs.into_iter().collect()).unwrap_or_default())
}

/// The QoS specs of a type.
pub async fn qos_of_type(cx: &JobContext, type_id: &str) -> StoreResult<Option<QosSpecs>> {
    cx.app.store.qos_specs_of_type(type_id).await
}

/// A driver call on behalf of this job. Repeats of the same step have the same id.
pub fn call(cx: &JobContext, step: &str) -> Call {
    call_of(cx, step, cx.job.call_generation(), Duration::ZERO)
}

/// As [`call`], for what takes back a call of this same claim: an array that has seen it refuses that one when it comes late.
/// It has its time also when the job has none left.
pub fn undo_call(cx: &JobContext, step: &str) -> Call {
    call_of(cx, step, cx.job.undo_generation(), UNDO_TIME)
}

fn call_of(cx: &JobContext, step: &str, generation: u64, at_least: Duration) -> Call {
    let left = u64::try_from(cx.job.expires_at - clock::now()).unwrap_or(0);
    Call::new(
        format!("{}:{step}", cx.job.id),
        generation,
        cx.job.request_id.clone(),
        Duration::from_micros(left).max(at_least),
        cx.lease.clone(),
    )
}

/// The live driver of the volume's back end, if it does volumes.
pub fn volumes_of(cx: &JobContext, backend: &str) -> DriverResult<Arc<dyn Volumes>> {
    cx.app.drivers.backend(backend)?.need_volumes().cloned()
}

/// A message for the volume's owner. Sentences, without internals.
pub async fn tell(tx: &mut Tx, cx: &JobContext, volume: &VolumeRow, action: Action, detail: Detail, extra: &str) -> StoreResult<()> {
    tx.add_message(&NewMessage {
        resource: Resource::Volume,
        resource_id: volume.id.clone(),
        project_id: volume.project_id.clone(),
        request_id: cx.job.request_id.clone(),
        action,
        detail,
        extra: extra.to_owned(),
    })
    .await?;
    Ok(())
}

/// The driver's failure as the waiting caller reads it.
pub fn fault(what: &str, error: &DriverError) -> JobFault {
    JobFault { kind: Kind::Internal, message: format!("{what} ({})", error.user_text()) }
}
