//! `os-migrate_volume`: an operator sends a volume to another pool. What can be known at once is refused at once; whether
//! the destination has room, the job finds out, and the volume's project gets a message when it stays where it was.

use std::sync::Arc;

use serde_json::json;

use super::hold::hold_found;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        host::backend_of,
        volume::{MIGRATE_FROM, VolumeStatus},
    },
    error::{Error, Result},
    jobs::task::MigratePlan,
    scheduler::BackendKind,
    service::{refusal, volume::destroy::event},
    store::{
        Tx,
        sql::{snapshots::CopySource, volumes::VolumeRow},
    },
};

/// `host` is `host@backend#pool`, or `host@backend` for whichever of its pools. With `lock` users see the volume in
/// maintenance; without, an attachment puts an end to the move.
///
/// # Errors
/// 400 when state, snapshots or destination do not allow it, 403, 404.
pub async fn migrate(app: &Arc<App>, ctx: &RequestContext, id: &str, host: &str, lock: bool) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "volume_extension:volume_admin_actions:migrate_volume").await?;
    check_destination(app, host).await?;
    let (mut tx, volume) = hold_found(app, &found).await?;
    if volume.host.as_deref() == Some(host) {
        return Err(wrong_state(&volume));
    }
    movable(&mut tx, &volume).await?;
    let plan = MigratePlan::to(host);
    if !begin(app, ctx, &mut tx, &volume, MIGRATE_FROM, &plan, lock).await? {
        return Err(wrong_state(&volume));
    }
    event(&mut tx, "volume.migrate.start", &volume, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// Puts the job into the queue and says that the volume moves. False: its state does not allow it; the caller rolls back.
pub(super) async fn begin(
    app: &Arc<App>,
    ctx: &RequestContext,
    tx: &mut Tx,
    volume: &VolumeRow,
    from: &[VolumeStatus],
    plan: &MigratePlan,
    lock: bool,
) -> Result<bool> {
    // no back end's room is taken before a pool is chosen
    let mut job = super::create::job(app, ctx, &volume.id, None, "volume.migrate", json!(plan));
    job.max_age = app.config.get().copy.max_age;
    let job = tx.enqueue(&app.jobs, job).await?;
    Ok(tx.volume_begin_migration(&volume.id, from, &job, lock, clock::now()).await?)
}

/// Whether the volume can be copied away, as far as that does not depend on where to.
///
/// # Errors
/// 400.
pub(super) async fn movable(tx: &mut Tx, volume: &VolumeRow) -> Result<()> {
    let id = &volume.id;
    if volume.status == VolumeStatus::InUse.as_str() || !tx.attachments_of(id).await?.is_empty() {
        return Err(refusal::invalid_volume(format!(
            "Volume {id} is attached: its data is copied only while nobody uses it. Detach it first."
        )));
    }
    if !tx.snapshots_of(id).await?.is_empty() {
        return Err(refusal::invalid_volume(format!("Volume {id} must not have snapshots to be migrated.")));
    }
    if let Some(copy) = tx.being_copied(CopySource::Volume, id).await? {
        return Err(refusal::invalid_volume(format!("Volume {id} is being copied to volume {copy}; move it when that has ended.")));
    }
    Ok(())
}

/// The volume's move has just been ended in this transaction: its job learns of it at once, whatever it waits for. What else is
/// asked of the volume comes after that job.
pub(in crate::service) async fn ended(app: &App, tx: &mut Tx, volume: &VolumeRow) -> Result<()> {
    if let Some(job) = &volume.migration_job {
        tx.hurry(&app.jobs, job).await?;
    }
    Ok(())
}

/// The destination is a back end that is up and takes new volumes, or a pool that such a one has reported.
async fn check_destination(app: &App, host: &str) -> Result<()> {
    let backend = backend_of(host);
    let found = app.store.backend(backend).await?;
    if found.is_none_or(|b| b.kind != BackendKind::Block || !b.enabled || b.state(clock::now()).is_err()) {
        return Err(no_service(host));
    }
    if backend != host && !app.store.pools_of(backend).await?.iter().any(|p| p.name == host) {
        return Err(no_service(host));
    }
    Ok(())
}

/// As upstream says it.
pub fn no_service(name: &str) -> Error {
    Error::invalid(format!("Invalid host: No available service named '{name:.255}'"))
}

fn wrong_state(volume: &VolumeRow) -> Error {
    refusal::invalid_volume(format!(
        "Volume {} status must be available, must not be migrating, have snapshots, be replicated, be part of a group and destination \
         host/cluster must be different than the current one. Its status is {}.",
        volume.id, volume.status
    ))
}
