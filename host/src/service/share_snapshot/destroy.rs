//! The end of a snapshot's rows: they, their quota and their room go, the tombstone comes, in the caller's transaction.

use serde_json::json;

use crate::{
    notify::NewEvent,
    quota::{QuotaDelta, QuotaError},
    service::{page::to_tombstone, share::destroy::of_each},
    store::{
        StoreResult, Tx,
        sql::{share_snapshot_list::ShareSnapshotSort, share_snapshots::ShareSnapshotRow, tombstones::Tombstone},
    },
};

/// Removes the snapshot. False: it is gone, and nothing was written.
pub async fn remove(tx: &mut Tx, id: &str, request_id: &str) -> Result<bool, QuotaError> {
    forget(tx, id, "share_snapshot.delete.end", request_id).await
}

/// As [`remove`], under the name of what happened to it.
pub async fn forget(tx: &mut Tx, id: &str, event_type: &str, request_id: &str) -> Result<bool, QuotaError> {
    let Some(found) = tx.share_snapshot(id).await? else { return Ok(false) };
    // the share first, as everywhere: whoever counts its snapshots holds it
    tx.share_locked(&found.share_id).await?;
    let Some(snapshot) = tx.share_snapshot_locked(id).await? else { return Ok(false) };
    tx.share_snapshot_remove(id).await?;
    tx.quota_change(&quota(&snapshot.project_id, &snapshot.user_id, &snapshot.share_type_id, snapshot.size_gib, -1)).await?;
    tx.forget_claim(id).await?;
    tx.tombstone(&tombstone(&snapshot, request_id)).await?;
    event(tx, event_type, &snapshot, request_id).await?;
    Ok(true)
}

/// The figures a snapshot counts in: of its project, of its user there, of its share's type there. `sign` is 1 or -1.
pub fn quota(project_id: &str, user_id: &str, type_id: &str, size_gib: i64, sign: i64) -> Vec<QuotaDelta> {
    let mut figures = of_each(project_id, user_id, type_id, "snapshot_gigabytes", sign * size_gib);
    figures.extend(of_each(project_id, user_id, type_id, "snapshots", sign));
    figures
}

/// An event about a snapshot, for the outbox.
pub async fn event(tx: &mut Tx, event_type: &str, snapshot: &ShareSnapshotRow, request_id: &str) -> StoreResult<()> {
    tx.publish(&NewEvent {
        event_type: event_type.to_owned(),
        resource_kind: "share_snapshot",
        resource_id: snapshot.id.clone(),
        project_id: snapshot.project_id.clone(),
        user_id: snapshot.user_id.clone(),
        request_id: request_id.to_owned(),
        payload: json!({
            "snapshot_id": snapshot.id,
            "snapshot_instance_id": snapshot.instance_id,
            "share_id": snapshot.share_id,
            "project_id": snapshot.project_id,
            "user_id": snapshot.user_id,
            "name": snapshot.name,
            "size": snapshot.size_gib,
            "proto": snapshot.share_proto,
            "status": snapshot.status,
            "host": snapshot.host,
        }),
    })
    .await
}

/// As [`event`], about the snapshot as this transaction has made it.
pub async fn event_now(tx: &mut Tx, event_type: &str, snapshot_id: &str, request_id: &str) -> StoreResult<()> {
    match tx.share_snapshot(snapshot_id).await? {
        Some(snapshot) => event(tx, event_type, &snapshot, request_id).await,
        None => Ok(()),
    }
}

fn tombstone(snapshot: &ShareSnapshotRow, request_id: &str) -> Tombstone {
    Tombstone {
        kind: "share_snapshot",
        id: snapshot.id.clone(),
        project_id: snapshot.project_id.clone(),
        sort_keys: to_tombstone::<ShareSnapshotSort>(snapshot),
        host: snapshot.host.clone().unwrap_or_default(),
        provider_id: snapshot.provider_id.clone().unwrap_or_default(),
        request_id: request_id.to_owned(),
    }
}
