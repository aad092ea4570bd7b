//! The end of a volume's row: the row, its quota and its room go, the tombstone comes, in the caller's transaction.

use serde_json::json;

use crate::{
    domain::volume::VolumeStatus,
    notify::NewEvent,
    quota::QuotaDelta,
    service::page::to_tombstone,
    store::sql::types::TypeOf,
    store::{
        StoreResult, Tx,
        sql::{tombstones::Tombstone, volume_list::VolumeSort, volumes::VolumeRow},
    },
};

/// Removes the row if it is in one of `from`. False: it is not, and nothing was written.
pub async fn remove(tx: &mut Tx, volume: &VolumeRow, from: &[VolumeStatus], request_id: &str) -> Result<bool, crate::quota::QuotaError> {
    if !tx.volume_remove(&volume.id, from).await? {
        return Ok(false);
    }
    after_removal(tx, volume, request_id).await?;
    Ok(true)
}

/// What follows from a removed row.
pub async fn after_removal(tx: &mut Tx, volume: &VolumeRow, request_id: &str) -> Result<(), crate::quota::QuotaError> {
    // as it is called now, and until this transaction ends: a rename moves the figures to another name
    let type_name = tx.type_name_kept(TypeOf::Volume, &volume.volume_type_id).await?.unwrap_or_else(|| volume.type_name.clone());
    tx.quota_change(&quota(&volume.project_id, &type_name, volume.size_gib, -1)).await?;
    tx.forget_claim(&volume.id).await?;
    tx.tombstone(&tombstone(volume, request_id)).await?;
    event(tx, "volume.delete.end", volume, request_id).await?;
    Ok(())
}

/// The four figures one volume counts in; `sign` is 1 or -1.
pub fn quota(project_id: &str, type_name: &str, size_gib: i64, sign: i64) -> Vec<QuotaDelta> {
    [
        ("volumes".to_owned(), 1),
        ("gigabytes".to_owned(), size_gib),
        (format!("volumes_{type_name}"), 1),
        (format!("gigabytes_{type_name}"), size_gib),
    ]
    .into_iter()
    .map(|(resource, amount)| QuotaDelta::project(project_id, resource, sign * amount))
    .collect()
}

/// An event about a volume, for the outbox.
pub async fn event(tx: &mut Tx, event_type: &str, volume: &VolumeRow, request_id: &str) -> StoreResult<()> {
    tx.publish(&NewEvent {
        event_type: event_type.to_owned(),
        resource_kind: "volume",
        resource_id: volume.id.clone(),
        project_id: volume.project_id.clone(),
        user_id: volume.user_id.clone(),
        request_id: request_id.to_owned(),
        payload: json!({
            "volume_id": volume.id,
            "tenant_id": volume.project_id,
            "user_id": volume.user_id,
            "display_name": volume.name,
            "volume_type": volume.volume_type_id,
            "size": volume.size_gib,
            "status": volume.status,
            "availability_zone": volume.availability_zone,
            "host": volume.host,
        }),
    })
    .await
}

/// As [`event`], about the volume as this transaction has made it.
pub async fn event_now(tx: &mut Tx, event_type: &str, volume_id: &str, request_id: &str) -> StoreResult<()> {
    match tx.volume(volume_id).await? {
        Some(volume) => event(tx, event_type, &volume, request_id).await,
        None => Ok(()),
    }
}

fn tombstone(volume: &VolumeRow, request_id: &str) -> Tombstone {
    Tombstone {
        kind: "volume",
        id: volume.id.clone(),
        project_id: volume.project_id.clone(),
        sort_keys: to_tombstone::<VolumeSort>(volume),
        host: volume.host.clone().unwrap_or_default(),
        provider_id: volume.provider_id.clone().unwrap_or_default(),
        request_id: request_id.to_owned(),
    }
}
