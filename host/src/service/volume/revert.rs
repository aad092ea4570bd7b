//! `revert` (3.40): the volume gets the content of its latest snapshot back.

use std::sync::Arc;

use serde_json::json;

use super::hold::hold;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{snapshot::SnapshotStatus, volume::VolumeStatus},
    error::{Error, Result},
    service::{refusal, snapshot, volume::destroy::event},
    store::sql::{snapshots::SnapshotRow, volumes::VolumeRow},
};

/// # Errors
/// 400 when it is not the latest snapshot or has another size, 403, 404, 409 when the state of either does not allow it.
pub async fn revert(app: &Arc<App>, ctx: &RequestContext, id: &str, snapshot_id: &str) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume:revert_to_snapshot").await?;
    let snapshots = tx.snapshots_of(id).await?;
    // one that stayed with the project that gave the volume away is not its new owner's to read
    if snapshots.iter().any(|s| s.id == snapshot_id && s.project_id != volume.project_id) {
        return Err(refusal::snapshot_not_found(snapshot_id));
    }
    decide(&volume, snapshots.first(), snapshot_id)?;
    let now = clock::now();
    if !tx.volume_status(id, &[VolumeStatus::Available], VolumeStatus::Reverting, now).await? {
        return Err(Error::conflict(format!("Can't revert volume {id}. Its status must be available, it is {}.", volume.status)));
    }
    if !tx.snapshot_status(snapshot_id, &[SnapshotStatus::Available], SnapshotStatus::Restoring, now).await? {
        return Err(Error::conflict(format!("Can't revert to snapshot {snapshot_id}. Its status must be available.")));
    }
    let job = super::create::job(app, ctx, id, volume.backend(), "volume.revert", json!({ "snapshot_id": snapshot_id }));
    tx.enqueue(&app.jobs, job).await?;
    event(&mut tx, "volume.revert.start", &volume, &ctx.request_id).await?;
    snapshot::destroy::event_now(&mut tx, "snapshot.revert.start", snapshot_id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

fn decide(volume: &VolumeRow, latest: Option<&SnapshotRow>, asked: &str) -> Result<()> {
    if volume.being_changed() || volume.is_moving() {
        return Err(Error::conflict(format!("Can't revert volume {}: it is being extended, retyped or migrated.", volume.id)));
    }
    let Some(latest) = latest else { return Err(Error::invalid(format!("Volume {} doesn't have any snapshots.", volume.id))) };
    if latest.id != asked {
        return Err(Error::invalid(format!("Specified snapshot {asked:.64} is not the latest one of volume {}.", volume.id)));
    }
    if latest.size_gib != volume.size_gib {
        return Err(Error::invalid(format!(
            "Can't revert volume {} to its latest snapshot {}. The volume size must be equal to the snapshot size.",
            volume.id, latest.id
        )));
    }
    Ok(())
}
