//! `DELETE /volumes/{id}`. Reads after the 202 show `deleting`. A volume that never got a host has nothing behind it and is
//! gone when the call returns.

use std::sync::Arc;

use serde_json::json;

use super::{destroy, hold::hold_found};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        attachment::AttachmentStatus,
        snapshot::{CASCADE_FROM, SnapshotStatus},
        volume::{DELETE_FROM, VolumeStatus, either},
    },
    error::{Error, Result},
    policy::Target,
    service::{refusal, snapshot::delete::at_once_or_by_job},
    store::{
        Tx,
        sql::{
            attachments::AttachmentRow,
            snapshots::{CopySource, SnapshotRow},
            volumes::VolumeRow,
        },
    },
};

/// `force` is the query parameter of 3.23: any status but attached, for whoever policy permits. `cascade` takes its snapshots
/// along.
///
/// # Errors
/// 400 when the state does not allow it, 403, 404.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str, force: bool, cascade: bool) -> Result<()> {
    let volume = super::load_row_for(app, ctx, id, "volume:delete").await?;
    if force {
        app.policy.check(ctx, "volume:force_delete", &Target::project(&volume.project_id))?;
    }
    begin(app, ctx, &volume, force, cascade).await
}

/// `os-force_delete`.
///
/// # Errors
/// 400 when it is attached, has snapshots or is being copied, 403, 404.
pub async fn force_delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "volume_extension:volume_admin_actions:force_delete").await?;
    begin(app, ctx, &found, true, false).await
}

async fn begin(app: &Arc<App>, ctx: &RequestContext, found: &VolumeRow, force: bool, cascade: bool) -> Result<()> {
    let id = found.id.as_str();
    // held from here on: nobody attaches it between the look at its attachments and the change
    let (mut tx, volume) = hold_found(app, found).await?;
    let going = VolumeRow { status: VolumeStatus::Deleting.as_str().to_owned(), ..volume.clone() };
    let job = tx.job_on(id).await?;
    if tx.volume_remove_unplaced(id).await? {
        if job.is_some() {
            // its create, which now finds nothing that it could tell of
            destroy::event(&mut tx, "volume.create.error", &volume, &ctx.request_id).await?;
        }
        destroy::event(&mut tx, "volume.delete.start", &going, &ctx.request_id).await?;
        destroy::after_removal(&mut tx, &volume, &ctx.request_id).await?;
        return Ok(tx.commit().await?);
    }
    if let Some(copy) = tx.being_copied(CopySource::Volume, id).await? {
        return Err(refusal::invalid_volume(format!("Volume {id} is being copied to volume {copy}; delete it when that has ended.")));
    }
    let snapshots = snapshots_to_go(&mut tx, &volume, cascade).await?;
    if !tx.volume_begin_delete(id, force, clock::now()).await? {
        let attachments = tx.attachments_of(id).await?;
        tx.rollback().await?;
        return refusal_of(&volume, &attachments, force);
    }
    destroy::event(&mut tx, "volume.delete.start", &going, &ctx.request_id).await?;
    for snapshot in &snapshots {
        if tx.snapshot_begin_delete(&snapshot.id, true, clock::now()).await? {
            at_once_or_by_job(app, ctx, &mut tx, snapshot).await?;
        }
    }
    // its turn comes after its snapshots': their jobs have the same order key
    let job = super::create::job(app, ctx, id, volume.backend(), "volume.delete", json!({ "was": volume.status }));
    tx.enqueue(&app.jobs, job).await?;
    Ok(tx.commit().await?)
}

/// The snapshots that go with the volume. Without `cascade` there must be none; with it, none in motion, being copied or
/// another project's, which kept them when it gave the volume away.
async fn snapshots_to_go(tx: &mut Tx, volume: &VolumeRow, cascade: bool) -> Result<Vec<SnapshotRow>> {
    let id = volume.id.as_str();
    let snapshots = tx.snapshots_of(id).await?;
    if snapshots.iter().any(|s| s.project_id != volume.project_id) {
        return Err(refusal::anothers_snapshots(id));
    }
    let idle = |s: &SnapshotRow| SnapshotStatus::parse(&s.status).is_some_and(|status| CASCADE_FROM.contains(&status));
    if !snapshots.is_empty() && (!cascade || !snapshots.iter().all(idle)) {
        let which = if cascade { "snapshots that are in use" } else { "snapshots" };
        return Err(refusal::invalid_volume(format!("Volume {id} has {} {which}; delete them first.", snapshots.len())));
    }
    for snapshot in &snapshots {
        // held, so that no copy of it begins between this look and its end
        tx.snapshot_locked(&snapshot.id).await?;
        if let Some(copy) = tx.being_copied(CopySource::Snapshot, &snapshot.id).await? {
            return Err(refusal::invalid_volume(format!("Snapshot {} of volume {id} is being copied to volume {copy}.", snapshot.id)));
        }
    }
    Ok(snapshots)
}

/// Why the conditional change did not happen, from what was found.
fn refusal_of(volume: &VolumeRow, attachments: &[AttachmentRow], force: bool) -> Result<()> {
    if !attachments.is_empty() && attachments.iter().all(|a| a.status == AttachmentStatus::Reserved.as_str()) {
        return Err(refusal::invalid_volume(format!("Volume {} is reserved for an attachment; delete the attachment first.", volume.id)));
    }
    if !attachments.is_empty() {
        return Err(Error::invalid(format!("Invalid volume: Volume {} is still attached, detach volume first.", volume.id)));
    }
    if force && volume.status == VolumeStatus::Deleting.as_str() {
        return Ok(());
    }
    Err(refusal::invalid_volume(format!(
        "Volume status must be {} and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from \
         snapshots after volume transfer. Its status is {}.",
        either(DELETE_FROM),
        volume.status
    )))
}
