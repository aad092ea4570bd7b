//! `os-reset_status` of a volume: an operator says what it is. What belongs to a job that would not be there is refused, and
//! so is any status while a job makes, deletes or reverts the volume: that job knows what is true, and it ends by itself.

use super::{hold::hold_found, migrate::ended};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume::{AttachStatus, MIGRATION_ACTIVE, NEVER_TOLD, VolumeStatus},
    error::{Error, Result},
    service::{attachment::delete::remove, decided, refusal, transfer},
};

/// What it shall be; none is left as it is.
#[derive(Debug, Clone, Default)]
pub struct ResetVolume {
    pub status: Option<VolumeStatus>,
    pub attach_status: Option<AttachStatus>,
    /// The inner none is null.
    pub migration_status: Option<Option<String>>,
}

/// # Errors
/// 400 for a status of [`NEVER_TOLD`], for `in-use` without attachments, while a job of [`decided::VOLUME`] is under way, and for a move
/// that was ended and shall go on, 403, 404.
pub async fn reset(app: &App, ctx: &RequestContext, id: &str, ask: ResetVolume) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "volume_extension:volume_admin_actions:reset_status").await?;
    if let Some(status) = ask.status.filter(|s| NEVER_TOLD.contains(s)) {
        return Err(Error::invalid(format!("Cannot reset-state to {status}.")));
    }
    let (mut tx, row) = hold_found(app, &found).await?;
    if ask.status.is_some() {
        let refuse = |job: &str| refusal::invalid_volume(decided::says("Volume", id, &row.status, job));
        decided::check(&mut tx, id, decided::VOLUME, refuse).await?;
    }
    let active = |word: Option<&str>| word.is_some_and(|w| MIGRATION_ACTIVE.contains(&w));
    if let (Some(job), Some(told)) = (&row.migration_job, &ask.migration_status)
        && active(told.as_deref())
        && !active(row.migration_status.as_deref())
    {
        // who ended it may have changed the volume since
        return Err(refusal::invalid_volume(format!("Volume {id} does not move any more: job {job} says what comes of it.")));
    }
    let attachments = tx.attachments_of(id).await?;
    if ask.status == Some(VolumeStatus::InUse) && attachments.is_empty() {
        return Err(Error::invalid("Cannot reset-state to in-use because volume does not have any attachments."));
    }
    if ask.attach_status == Some(AttachStatus::Detached) {
        // what a job has in hand, or a back end still exports, goes by its own way
        if let Some(held) = attachments.iter().find(|a| a.work.is_some() || a.may_be_connected()) {
            return Err(Error::invalid(format!("Cannot reset attach status: delete attachment {} first.", held.id)));
        }
        for attachment in &attachments {
            remove(&mut tx, attachment, None, &ctx.request_id).await?;
        }
    }
    if row.status == VolumeStatus::AwaitingTransfer.as_str()
        && ask.status.is_some()
        && let Some(offer) = tx.transfer_of(id).await?
    {
        transfer::forget(&mut tx, &offer, &ctx.request_id).await?;
    }
    tracing::warn!(volume_id = id, was = row.status, ask = ?ask, "an operator gives a volume another status");
    super::destroy::event(&mut tx, "volumes.reset_status.start", &found, &ctx.request_id).await?;
    let migration = ask.migration_status.as_ref().map(Option::as_deref);
    tx.volume_tell(id, ask.status, ask.attach_status, migration, clock::now()).await?;
    if migration.is_some() {
        ended(app, &mut tx, &row).await?;
    }
    if let Some(now) = tx.volume(id).await? {
        super::destroy::event(&mut tx, "volumes.reset_status.end", &now, &ctx.request_id).await?;
    }
    Ok(tx.commit().await?)
}
