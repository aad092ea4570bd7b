//! The older attach actions of a volume: reserve, connect, say attached; announce the detach, disconnect, say detached.
//!
//! They name a volume, not an attachment; what they make are attachments all the same ([`OlderAction`]), on the same states
//! and jobs as those of `/attachments`, so that a volume on which both are used shows what all of its attachments make of it,
//! and no export is without one. What upstream keeps nowhere is kept in the row: a reservation (shown as `attaching`), a
//! connection that nobody reserved, and an announced detach.

pub mod attach;
pub mod begin_detaching;
pub mod detach;
pub mod force_detach;
pub mod initialize_connection;
pub mod reserve;
pub mod roll_detaching;
pub mod terminate_connection;
pub mod unreserve;

use uuid::Uuid;

use super::{create::suits, used_by_compute};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        attachment::{AttachMode, AttachmentStatus, OlderAction},
        volume::{MULTIATTACH_FROM, OLDER_ATTACH_FROM, VolumeStatus, either},
    },
    error::{Error, Result},
    service::{
        refusal,
        volume::{hold::hold, migrate::ended},
    },
    store::{
        Tx,
        sql::{
            attachments::{AttachmentRow, DISCONNECT, NewAttachment},
            volumes::VolumeRow,
        },
    },
};

/// Nothing attaches to or detaches from a volume in maintenance.
fn not_in_maintenance(volume: &VolumeRow) -> Result<()> {
    if volume.status == VolumeStatus::Maintenance.as_str() {
        return Err(refusal::invalid_volume(format!("Unable to attach or detach volume {}: it is in maintenance.", volume.id)));
    }
    Ok(())
}

/// From which states one more attachment begins.
fn starts_from(volume: &VolumeRow) -> &'static [VolumeStatus] {
    if volume.multiattach { MULTIATTACH_FROM } else { OLDER_ATTACH_FROM }
}

/// One more attachment of the volume, in the caller's transaction.
///
/// # Errors
/// 400 when the volume's state does not allow it, 403 (several servers that boot from one volume).
async fn begin(
    app: &App,
    ctx: &RequestContext,
    tx: &mut Tx,
    volume: &VolumeRow,
    from: &[VolumeStatus],
    action: OlderAction,
    instance_id: Option<String>,
) -> Result<AttachmentRow> {
    if !tx.volume_reserve(&volume.id, from, volume.multiattach, clock::now()).await? {
        return Err(refusal::invalid_volume(format!(
            "Volume status must be {} to {action}, but the status is {}.",
            either(from),
            volume.status
        )));
    }
    suits(app, ctx, volume, &tx.attachments_of(&volume.id).await?)?;
    ended(app, tx, volume).await?;
    let new = NewAttachment {
        id: Uuid::new_v4().to_string(),
        volume_id: volume.id.clone(),
        project_id: volume.project_id.clone(),
        instance_id,
        mode: if volume.readonly == Some(true) { AttachMode::ReadOnly } else { AttachMode::Unset }.as_str(),
        created_at: clock::now(),
    };
    tx.attachment_insert_older(&new, action).await?;
    tx.volume_follow_attachments(&volume.id, clock::now()).await?;
    tx.attachment(&new.id).await?.ok_or_else(|| Error::internal("the attachment just inserted is not there"))
}

/// Waits for `os-attach`: made by `os-reserve` or `os-initialize_connection`, for nobody in particular yet.
fn awaits_attach(a: &AttachmentRow) -> bool {
    (a.is_older(OlderAction::Reserve) || a.is_older(OlderAction::Connect))
        && a.instance_id.is_none()
        && a.status == AttachmentStatus::Attaching.as_str()
        && a.work.as_deref() != Some(DISCONNECT)
}

/// What counts where an action means "the volume's attachment" without naming it: what is attached or made as an attachment;
/// only when there is no such thing, what is reserved or merely connected.
fn named(attachments: &[AttachmentRow]) -> Vec<&AttachmentRow> {
    let proper: Vec<_> = attachments.iter().filter(|a| a.older.is_none() || a.is_older(OlderAction::Attach)).collect();
    if proper.is_empty() { attachments.iter().collect() } else { proper }
}

/// Several attachments and none was named: nobody but the compute service could mean the right one.
fn which_one(volume_id: &str) -> Error {
    used_by_compute(format!("Volume {volume_id} has several attachments: detach it using the Compute API, or name the attachment"))
}
