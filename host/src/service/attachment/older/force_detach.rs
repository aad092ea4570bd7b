//! `os-force_detach`: an operator takes one attachment away, whatever the volume's status. The others stay.

use serde_json::{Map, Value};

use super::{detach::several, hold, named, which_one};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume::VolumeStatus,
    error::{Error, Result},
    jobs::task::DisconnectAsk,
    service::{
        attachment::{connector, delete::take_away, may_be_taken, wait},
        refusal,
    },
    store::sql::attachments::{AttachmentRow, DISCONNECT},
};

/// Without a connector, and when it is the only attachment, whoever the back end still exports the volume to is let go.
///
/// # Errors
/// 400 for an unknown attachment, or when none was named and there are several, 403, 404, 409 when a server uses it and not the
/// compute service asks, 500 when the back end failed, 504.
pub async fn force_detach(
    app: &App,
    ctx: &RequestContext,
    id: &str,
    attachment_id: Option<&str>,
    given: Option<Map<String, Value>>,
) -> Result<()> {
    if let Some(given) = &given {
        connector::check(given)?;
    }
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_admin_actions:force_detach").await?;
    let all = tx.attachments_of(id).await?;
    let attachment = chosen(ctx, id, &all, attachment_id)?;
    if let Some(attachment) = attachment {
        may_be_taken(ctx, attachment, &all)?;
    }
    // an error that somebody gave the volume ends here: it shows what is left
    if VolumeStatus::parse(&volume.status) == Some(VolumeStatus::Error) && volume.host.is_some() && attachment.is_some() {
        tx.volume_status(id, &[VolumeStatus::Error], VolumeStatus::Detaching, clock::now()).await?;
    }
    let job = match attachment {
        None => None,
        Some(AttachmentRow { work: Some(work), job_id: Some(job), .. }) if work == DISCONNECT => Some(job.clone()),
        Some(attachment) => {
            let everybody = given.is_none() && all.len() == 1;
            let ask = DisconnectAsk { status: attachment.status.clone(), connector: given, everybody, ..DisconnectAsk::default() };
            take_away(app, ctx, &mut tx, &volume, attachment, &ask).await?
        }
    };
    tx.volume_follow_attachments(id, clock::now()).await?;
    tx.commit().await?;
    match job {
        Some(job) => wait(app, ctx, &job).await,
        None => Ok(()),
    }
}

/// The attachment that is meant; none when the volume has none.
fn chosen<'a>(ctx: &RequestContext, id: &str, all: &'a [AttachmentRow], attachment_id: Option<&str>) -> Result<Option<&'a AttachmentRow>> {
    let refused = |class: &str, why: &Error| Error::invalid(format!("Error force detaching volume - {class}: {}", why.message));
    if let Some(wanted) = attachment_id {
        let found = all.iter().find(|a| a.id == wanted);
        return found.map(Some).ok_or_else(|| refused("VolumeAttachmentNotFound", &refusal::attachment_not_found(wanted)));
    }
    match named(all).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ if ctx.service_token => Err(refused("InvalidVolume", &several())),
        _ => Err(which_one(id)),
    }
}
