//! What the tasks about snapshots of shares have in common.

use std::collections::HashMap;

use super::{share_access, share_server_support::driver_server_of, share_support};
use crate::{
    driver::types::{self, AccessMode, AccessRule, ExportLocation, StringMap},
    jobs::{JobContext, TaskError},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    store::{
        StoreError, StoreResult, Tx,
        sql::{metadata::MetadataOf, share_snapshots::ShareSnapshotRow, snapshot_access::SnapshotRuleRow},
    },
};

/// Snapshots of one query.
const AT_ONCE: usize = 500;

/// A snapshot and its share as their driver is told of them, and where they are.
pub struct Told {
    pub snapshot: types::ShareSnapshot,
    pub share: types::Share,
    /// `host@backend`.
    pub backend: String,
}

/// None: the share is gone.
pub async fn told(cx: &JobContext, snapshot: &ShareSnapshotRow) -> Result<Option<Told>, TaskError> {
    let Some(row) = cx.app.store.share(&snapshot.share_id).await? else { return Ok(None) };
    Ok(Some(Told {
        snapshot: driver_snapshot(cx, snapshot).await?,
        share: share_support::driver_share(cx, &row).await?,
        backend: row.backend().unwrap_or_default().to_owned(),
    }))
}

/// The snapshot as its driver is told of it.
pub async fn driver_snapshot(cx: &JobContext, snapshot: &ShareSnapshotRow) -> StoreResult<types::ShareSnapshot> {
    let told = driver_snapshots(cx, std::slice::from_ref(snapshot)).await?.pop();
    // one for each: there is always one
    told.ok_or_else(|| StoreError::Corrupt("a snapshot was not read".to_owned()))
}

/// Snapshots as their driver is told of them, in this order: the one place where that is put together. A driver knows a snapshot
/// and its share by the ids of their instances. What belongs to the snapshots is read some hundreds at a time.
pub async fn driver_snapshots(cx: &JobContext, snapshots: &[ShareSnapshotRow]) -> StoreResult<Vec<types::ShareSnapshot>> {
    let store = &cx.app.store;
    let mut servers = HashMap::new();
    let mut told = Vec::with_capacity(snapshots.len());
    for some in snapshots.chunks(AT_ONCE) {
        let mut metadata = store.metadata_of_all(MetadataOf::ShareSnapshot, some.iter().map(|s| s.id.as_str())).await?;
        let mut locations = store.snapshot_locations_of_all(some.iter().map(|s| s.instance_id.as_str())).await?;
        for snapshot in some {
            if !servers.contains_key(&snapshot.share_server_id) {
                servers.insert(snapshot.share_server_id.clone(), driver_server_of(cx, snapshot.share_server_id.as_deref()).await?);
            }
            let locations = locations.remove(&snapshot.instance_id).unwrap_or_default();
            told.push(types::ShareSnapshot {
                id: snapshot.instance_id.clone(),
                name: snapshot.name.clone().unwrap_or_default(),
                project_id: snapshot.project_id.clone(),
                share_id: snapshot.share_instance_id.clone(),
                size_gib: u64::try_from(snapshot.size_gib).unwrap_or(0),
                provider_id: snapshot.provider_id.clone(),
                provider_data: snapshot.provider_data.clone(),
                locations: locations
                    .into_iter()
                    .map(|l| ExportLocation { path: l.path, admin_only: l.admin_only, preferred: false, metadata: StringMap::new() })
                    .collect(),
                server: servers.get(&snapshot.share_server_id).cloned().flatten(),
                metadata: metadata.remove(&snapshot.id).unwrap_or_default().into_iter().collect(),
            });
        }
    }
    Ok(told)
}

/// A rule of a snapshot as its driver is told of it: always read-only.
pub fn driver_rule(rule: &SnapshotRuleRow) -> Option<AccessRule> {
    let kind = share_access::kind(&rule.access_type)?;
    Some(AccessRule { id: rule.id.clone(), kind, to: rule.access_to.clone(), level: AccessMode::ReadOnly, key: None })
}

/// A message for the snapshot's owner. Sentences, without internals.
pub async fn tell(
    tx: &mut Tx,
    cx: &JobContext,
    snapshot: &ShareSnapshotRow,
    action: ShareAction,
    detail: ShareDetail,
    extra: &str,
) -> StoreResult<()> {
    tx.add_share_message(&NewShareMessage {
        resource: ShareResource::ShareSnapshot,
        resource_id: snapshot.id.clone(),
        project_id: snapshot.project_id.clone(),
        request_id: cx.job.request_id.clone(),
        action,
        detail,
        extra: extra.to_owned(),
    })
    .await?;
    Ok(())
}
