//! `os-detach`: the attachment goes, and its connection if that still stands. What is gone already is detached.

use super::{hold, named, not_in_maintenance, which_one};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    jobs::task::DisconnectAsk,
    service::{
        attachment::{delete::take_away, may_be_taken, wait},
        refusal,
    },
    store::{
        Tx,
        sql::{
            attachments::{AttachmentRow, DISCONNECT},
            volumes::VolumeRow,
        },
    },
};

/// # Errors
/// 400 when the attachment is another volume's, or none was named and there are several, 403, 404, 409 when a server uses it and
/// not the compute service asks, 500 when the back end failed, 504.
pub async fn detach(app: &App, ctx: &RequestContext, id: &str, attachment_id: Option<&str>) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:detach").await?;
    let all = tx.attachments_of(id).await?;
    let Some(attachment) = chosen(ctx, &mut tx, &volume, &all, attachment_id).await? else {
        tx.volume_follow_attachments(id, clock::now()).await?;
        return Ok(tx.commit().await?);
    };
    may_be_taken(ctx, attachment, &all)?;
    not_in_maintenance(&volume)?;
    let job = match (attachment.work.as_deref(), &attachment.job_id) {
        (Some(DISCONNECT), Some(job)) => Some(job.clone()),
        _ => {
            let ask = DisconnectAsk { status: attachment.status.clone(), ..DisconnectAsk::default() };
            take_away(app, ctx, &mut tx, &volume, attachment, &ask).await?
        }
    };
    tx.commit().await?;
    match job {
        Some(job) => wait(app, ctx, &job).await,
        None => Ok(()),
    }
}

/// The attachment that is meant; none when it is gone.
async fn chosen<'a>(
    ctx: &RequestContext,
    tx: &mut Tx,
    volume: &VolumeRow,
    all: &'a [AttachmentRow],
    attachment_id: Option<&str>,
) -> Result<Option<&'a AttachmentRow>> {
    if let Some(wanted) = attachment_id {
        let found = all.iter().find(|a| a.id == wanted);
        if found.is_none() && tx.attachment(wanted).await?.is_some_and(|a| a.project_id == volume.project_id) {
            return Err(refusal::invalid_input("Mismatched volume and attachment."));
        }
        return Ok(found);
    }
    match named(all).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ if ctx.service_token => Err(several()),
        _ => Err(which_one(&volume.id)),
    }
}

pub(super) fn several() -> Error {
    refusal::invalid_volume("Detach volume failed: More than one attachment, but no attachment_id provided.")
}
