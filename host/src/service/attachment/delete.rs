//! `DELETE /attachments/{id}`. A reservation goes at once; a connection goes when the driver has let it go. A repeated call
//! joins the one under way.

use std::sync::Arc;

use serde_json::json;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::attachment::AttachmentStatus,
    error::{Error, Result},
    jobs::task::DisconnectAsk,
    service::{page::to_tombstone, refusal, volume::destroy::event_now},
    store::{
        StoreResult, Tx,
        sql::{
            attachments::{AttachmentRow, AttachmentSort, DISCONNECT},
            tombstones::Tombstone,
            volumes::VolumeRow,
        },
    },
};

/// What is left on the volume.
///
/// # Errors
/// 404, 409 for an attachment that a server uses unless the compute service itself asks, 500 when the back end failed, 504.
pub async fn delete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<Vec<AttachmentRow>> {
    let found = super::load_for(app, ctx, id, "volume:attachment_delete").await?;
    let mut tx = app.store.begin().await?;
    let volume = tx.volume_locked(&found.volume_id).await?;
    let (Some(volume), Some(attachment)) = (volume, tx.attachment(id).await?) else { return Err(refusal::attachment_not_found(id)) };
    super::may_be_taken(ctx, &attachment, &tx.attachments_of(&volume.id).await?)?;
    if let (Some(DISCONNECT), Some(job)) = (attachment.work.as_deref(), attachment.job_id.as_deref()) {
        tx.rollback().await?;
        super::wait(app, ctx, job).await?;
        return Ok(app.store.attachments_of(&volume.id).await?);
    }
    let ask = DisconnectAsk { status: attachment.status.clone(), ..DisconnectAsk::default() };
    let job = take_away(app, ctx, &mut tx, &volume, &attachment, &ask).await?;
    tx.commit().await?;
    if let Some(job) = job {
        super::wait(app, ctx, &job).await?;
    }
    Ok(app.store.attachments_of(&volume.id).await?)
}

/// In the caller's transaction: what nothing ever reached goes now, the rest gets its job.
///
/// # Errors
/// 409 when it goes already.
pub(super) async fn take_away(
    app: &App,
    ctx: &RequestContext,
    tx: &mut Tx,
    volume: &VolumeRow,
    attachment: &AttachmentRow,
    ask: &DisconnectAsk,
) -> Result<Option<String>> {
    if attachment.work.is_none() && !attachment.may_be_connected() && ask.connector.is_none() && !ask.everybody {
        let was_attached = attachment.status == AttachmentStatus::Attached.as_str();
        if was_attached {
            event_now(tx, "volume.detach.start", &volume.id, &ctx.request_id).await?;
        }
        if forget(tx, attachment, None, &ctx.request_id).await? && was_attached {
            event_now(tx, "volume.detach.end", &volume.id, &ctx.request_id).await?;
        }
        return Ok(None);
    }
    let job = super::job(app, ctx, volume, &attachment.id, "attachment.disconnect", json!(ask));
    let job = tx.enqueue(&app.jobs, job).await?;
    if !tx.attachment_begin_disconnect(&attachment.id, &job, clock::now()).await? {
        return Err(Error::conflict("The attachment is being changed by another request."));
    }
    tx.volume_follow_attachments(&volume.id, clock::now()).await?;
    event_now(tx, "volume.detach.start", &volume.id, &ctx.request_id).await?;
    Ok(Some(job))
}

/// The row goes, the tombstone comes, and the volume shows what is left. The caller's transaction; `job` is the owner, if
/// there is one: then a connection has ended, which is told; a reservation goes untold.
pub async fn remove(tx: &mut Tx, attachment: &AttachmentRow, job: Option<&str>, request_id: &str) -> StoreResult<bool> {
    let gone = forget(tx, attachment, job, request_id).await?;
    if gone && job.is_some() {
        event_now(tx, "volume.detach.end", &attachment.volume_id, request_id).await?;
    }
    Ok(gone)
}

/// As [`remove`], of what was never attached: nobody is told. What else is attached is no longer about to leave.
pub async fn forget(tx: &mut Tx, attachment: &AttachmentRow, job: Option<&str>, request_id: &str) -> StoreResult<bool> {
    if tx.volume_locked(&attachment.volume_id).await?.is_none() || !tx.attachment_remove(&attachment.id, job).await? {
        return Ok(false);
    }
    tx.tombstone(&Tombstone {
        kind: "attachment",
        id: attachment.id.clone(),
        project_id: attachment.project_id.clone(),
        sort_keys: to_tombstone::<AttachmentSort>(attachment),
        host: attachment.connector_host.clone().unwrap_or_default(),
        provider_id: String::new(),
        request_id: request_id.to_owned(),
    })
    .await?;
    tx.attachments_leave(&attachment.volume_id, false).await?;
    tx.volume_follow_attachments(&attachment.volume_id, clock::now()).await?;
    Ok(true)
}
