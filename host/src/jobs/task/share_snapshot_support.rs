//! What the tasks about snapshots of shares have in common.

use super::{share_access, share_server_support::driver_server_of, share_support};
use crate::{
    driver::types::{self, AccessMode, AccessRule, ExportLocation, StringMap},
    jobs::{JobContext, TaskError},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    store::{
        StoreResult, Tx,
        sql::{metadata::MetadataOf, share_snapshots::ShareSnapshotRow, snapshot_access::SnapshotRuleRow},
    },
};

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

/// The snapshot as its driver is told of it: the one place where that is put together. A driver knows it and its share by
/// the ids of their instances.
pub async fn driver_snapshot(cx: &JobContext, snapshot: &ShareSnapshotRow) -> StoreResult<types::ShareSnapshot> {
    let metadata = cx.app.store.metadata(MetadataOf::ShareSnapshot, &snapshot.id).await?;
    let locations = cx.app.store.snapshot_locations(&snapshot.instance_id).await?;
    Ok(types::ShareSnapshot {
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
        server: driver_server_of(cx, snapshot.share_server_id.as_deref()).await?,
        metadata: metadata.into_iter().collect(),
    })
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
