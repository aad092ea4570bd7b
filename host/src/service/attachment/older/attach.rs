//! `os-attach`: a server or a host has the device. It becomes the attachment that was reserved for it; one that nobody
//! reserved is made now. Said twice it is said once.

use super::{awaits_attach, begin, hold, not_in_maintenance, starts_from};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::attachment::{AttachMode, AttachmentStatus, OlderAction, STAYS},
    error::{Error, Result},
    service::{refusal, volume::destroy::event_now},
    store::sql::attachments::{AttachmentRow, SaidAttached},
};

/// # Errors
/// 400 when its state or mode does not allow it, 403, 404, 409 while the same attachment is being taken away.
pub async fn attach(app: &App, ctx: &RequestContext, id: &str, said: SaidAttached) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:attach").await?;
    not_in_maintenance(&volume)?;
    if volume.readonly == Some(true) && said.mode != AttachMode::ReadOnly.as_str() {
        return Err(refusal::invalid_volume(format!("Volume {id} may only be read: attaching mode {} is invalid.", said.mode)));
    }
    let all = tx.attachments_of(id).await?;
    let attachment = match all.iter().filter(|a| is_theirs(a, &said)).max_by_key(|a| is_attached(a)) {
        Some(theirs) if is_attached(theirs) && theirs.work.is_none() => return Ok(()),
        Some(theirs) => theirs.clone(),
        None => match reserved_for(&all, &said) {
            Some(reserved) => reserved.clone(),
            None => begin(app, ctx, &mut tx, &volume, starts_from(&volume), OlderAction::Attach, said.instance_id.clone()).await?,
        },
    };
    event_now(&mut tx, "volume.attach.start", id, &ctx.request_id).await?;
    if !tx.attachment_attach(&attachment.id, STAYS, &said, clock::now()).await? {
        return Err(Error::conflict("The attachment is being deleted."));
    }
    tx.volume_follow_attachments(id, clock::now()).await?;
    event_now(&mut tx, "volume.attach.end", id, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

fn is_attached(a: &AttachmentRow) -> bool {
    a.status == AttachmentStatus::Attached.as_str()
}

/// It is for this server, or, where there is none, said to be on this host.
fn is_theirs(a: &AttachmentRow, said: &SaidAttached) -> bool {
    match &said.instance_id {
        Some(_) => a.instance_id == said.instance_id,
        None => a.instance_id.is_none() && a.attached_host.is_some() && a.attached_host == said.host,
    }
}

/// The reservation that this is the end of: one that is connected to the named host, else one that is connected, else the oldest.
fn reserved_for<'a>(all: &'a [AttachmentRow], said: &SaidAttached) -> Option<&'a AttachmentRow> {
    let there = |a: &AttachmentRow| said.host.is_some() && a.connector_host == said.host;
    all.iter().filter(|a| awaits_attach(a)).min_by_key(|a| (!there(a), a.connection_info.is_none(), a.created_at))
}
