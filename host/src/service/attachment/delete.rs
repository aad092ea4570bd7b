//! `DELETE /attachments/{id}`. A reservation goes at once; a connection goes when the driver has let it go. A repeated call
//! joins the one under way.

use std::sync::Arc;

use serde_json::json;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::attachment::{AttachmentStatus, held_by_compute},
    error::{Error, Result},
    service::{page::to_tombstone, refusal, volume::destroy::event_now},
    store::{
        StoreResult, Tx,
        sql::{
            attachments::{AttachmentRow, AttachmentSort, DISCONNECT},
            tombstones::Tombstone,
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
    if let Some(instance) = attachment.instance_id.as_deref()
        && held_by_compute(true, attachment.connection_info.is_some(), ctx.service_token)
    {
        return Err(Error::conflict(format!("Detach volume from instance {instance} using the Compute API"))
            .with_class("ConflictNovaUsingAttachment"));
    }
    if attachment.work.is_none() && attachment.status == AttachmentStatus::Reserved.as_str() && attachment.work_connector.is_none() {
        remove(&mut tx, &attachment, None, &ctx.request_id).await?;
        tx.commit().await?;
        return Ok(app.store.attachments_of(&volume.id).await?);
    }
    let job = match (attachment.work.as_deref(), attachment.job_id) {
        (Some(DISCONNECT), Some(job)) => {
            tx.rollback().await?;
            job
        }
        _ => {
            let payload = json!({ "status": attachment.status });
            let job = tx.enqueue(&app.jobs, super::job(app, ctx, &volume, id, "attachment.disconnect", payload)).await?;
            if !tx.attachment_begin_disconnect(id, &job, clock::now()).await? {
                return Err(Error::conflict("The attachment is being changed by another request."));
            }
            tx.volume_follow_attachments(&volume.id, clock::now()).await?;
            event_now(&mut tx, "volume.detach.start", &volume.id, &ctx.request_id).await?;
            tx.commit().await?;
            job
        }
    };
    super::wait(app, ctx, &job).await?;
    Ok(app.store.attachments_of(&volume.id).await?)
}

/// The row goes, the tombstone comes, and the volume shows what is left. The caller's transaction; `job` is the owner, if
/// there is one: then a connection has ended, which is told; a reservation goes untold.
pub async fn remove(tx: &mut Tx, attachment: &AttachmentRow, job: Option<&str>, request_id: &str) -> StoreResult<bool> {
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
    tx.volume_follow_attachments(&attachment.volume_id, clock::now()).await?;
    if job.is_some() {
        event_now(tx, "volume.detach.end", &attachment.volume_id, request_id).await?;
    }
    Ok(true)
}
