//! The end of a snapshot's row: the row, its quota and its room go, the tombstone comes, in the caller's transaction.

use serde_json::json;

use crate::{
    notify::NewEvent,
    quota::{QuotaDelta, QuotaError},
    service::page::to_tombstone,
    store::sql::types::TypeOf,
    store::{
        StoreResult, Tx,
        sql::{snapshot_list::SnapshotSort, snapshots::SnapshotRow, tombstones::Tombstone},
    },
};

/// Removes the row. False: it is gone, and nothing was written.
pub async fn remove(tx: &mut Tx, id: &str, request_id: &str) -> Result<bool, QuotaError> {
    let Some(found) = tx.snapshot(id).await? else { return Ok(false) };
    // the volume first, as everywhere: whoever counts its snapshots holds it
    let Some(volume) = tx.volume_locked(&found.volume_id).await? else { return Ok(false) };
    let Some(snapshot) = tx.snapshot_locked(id).await? else { return Ok(false) };
    tx.snapshot_remove(id).await?;
    // as it is called now, and until this transaction ends
    let type_name = tx.type_name_kept(TypeOf::Volume, &volume.volume_type_id).await?.unwrap_or(volume.type_name);
    let mut figures = quota(&snapshot.project_id, &type_name, snapshot.quota_gib, -1);
    if let Some(to) = &volume.retype_to
        && let Some(name) = tx.type_name_kept(TypeOf::Volume, to).await?
    {
        // its volume is being retyped, so it counts for that type as well
        figures.extend(type_quota(&snapshot.project_id, &name, snapshot.quota_gib, -1));
    }
    tx.quota_change(&figures).await?;
    tx.forget_claim(id).await?;
    tx.tombstone(&tombstone(&snapshot, request_id)).await?;
    event(tx, "snapshot.delete.end", &snapshot, request_id).await?;
    Ok(true)
}

/// The four figures one snapshot counts in; `sign` is 1 or -1.
pub fn quota(project_id: &str, type_name: &str, gib: i64, sign: i64) -> Vec<QuotaDelta> {
    let mut all = type_quota(project_id, type_name, gib, sign);
    all.push(QuotaDelta::project(project_id, "snapshots", sign));
    all.push(QuotaDelta::project(project_id, "gigabytes", sign * gib));
    all
}

/// Of these, those of the type.
fn type_quota(project_id: &str, type_name: &str, gib: i64, sign: i64) -> Vec<QuotaDelta> {
    vec![
        QuotaDelta::project(project_id, format!("snapshots_{type_name}"), sign),
        QuotaDelta::project(project_id, format!("gigabytes_{type_name}"), sign * gib),
    ]
}

/// An event about a snapshot, for the outbox.
pub async fn event(tx: &mut Tx, event_type: &str, snapshot: &SnapshotRow, request_id: &str) -> StoreResult<()> {
    tx.publish(&NewEvent {
        event_type: event_type.to_owned(),
        resource_kind: "snapshot",
        resource_id: snapshot.id.clone(),
        project_id: snapshot.project_id.clone(),
        user_id: snapshot.user_id.clone(),
        request_id: request_id.to_owned(),
        payload: json!({
            "snapshot_id": snapshot.id,
            "volume_id": snapshot.volume_id,
            "tenant_id": snapshot.project_id,
            "user_id": snapshot.user_id,
            "display_name": snapshot.name,
            "volume_size": snapshot.size_gib,
            "status": snapshot.status,
            "availability_zone": snapshot.availability_zone,
        }),
    })
    .await
}

/// As [`event`], about the snapshot as this transaction has made it.
pub async fn event_now(tx: &mut Tx, event_type: &str, snapshot_id: &str, request_id: &str) -> StoreResult<()> {
    match tx.snapshot(snapshot_id).await? {
        Some(snapshot) => event(tx, event_type, &snapshot, request_id).await,
        None => Ok(()),
    }
}

fn tombstone(snapshot: &SnapshotRow, request_id: &str) -> Tombstone {
    Tombstone {
        kind: "snapshot",
        id: snapshot.id.clone(),
        project_id: snapshot.project_id.clone(),
        sort_keys: to_tombstone::<SnapshotSort>(snapshot),
        host: snapshot.host.clone().unwrap_or_default(),
        provider_id: snapshot.provider_id.clone().unwrap_or_default(),
        request_id: request_id.to_owned(),
    }
}
