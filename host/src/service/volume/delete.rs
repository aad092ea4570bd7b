//! `DELETE /volumes/{id}`. Reads after the 202 show `deleting`. A volume that never got a host has nothing behind it and is
//! gone when the call returns.

use std::sync::Arc;

use serde_json::json;

use super::destroy;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume::{DELETE_FROM, VolumeStatus, either},
    error::{Error, Result},
    policy::Target,
    service::refusal,
    store::sql::volumes::VolumeRow,
};

/// `force` is the query parameter of 3.23: any status but attached, for whoever policy permits.
///
/// # Errors
/// 400 when the state does not allow it, 403, 404.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str, force: bool) -> Result<()> {
    let volume = super::load_row_for(app, ctx, id, "volume:delete").await?;
    if force {
        app.policy.check(ctx, "volume:force_delete", &Target::project(&volume.project_id))?;
    }
    let mut tx = app.store.begin().await?;
    // held from here on: nobody attaches it between the look at its attachments and the change
    let Some(volume) = tx.volume_locked(id).await? else { return Err(refusal::volume_not_found(id)) };
    let going = VolumeRow { status: VolumeStatus::Deleting.as_str().to_owned(), ..volume.clone() };
    if tx.volume_remove_unplaced(id).await? {
        destroy::event(&mut tx, "volume.delete.start", &going, &ctx.request_id).await?;
        destroy::after_removal(&mut tx, &volume, &ctx.request_id).await?;
        return Ok(tx.commit().await?);
    }
    if !tx.volume_begin_delete(id, force, clock::now()).await? {
        let attached = !tx.attachments_of(id).await?.is_empty();
        tx.rollback().await?;
        return refusal_of(&volume, attached, force);
    }
    destroy::event(&mut tx, "volume.delete.start", &going, &ctx.request_id).await?;
    let job = super::create::job(app, ctx, id, volume.backend(), "volume.delete", json!({}));
    tx.enqueue(&app.jobs, job).await?;
    Ok(tx.commit().await?)
}

/// Why the conditional change did not happen, from what was found.
fn refusal_of(volume: &VolumeRow, attached: bool, force: bool) -> Result<()> {
    if attached {
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
