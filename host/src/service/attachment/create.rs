//! `POST /attachments`: reserves the volume, and connects it at once when a connector came along.

use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::connector;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        attachment::{AttachMode, mode_of},
        volume::{ATTACH_FROM, MULTIATTACH_FROM, SAME_INSTANCE_FROM, VolumeStatus, either},
    },
    error::{Error, Result},
    jobs::task::ConnectAsk,
    policy::Target,
    service::{refusal, volume},
    store::sql::{
        attachments::{AttachmentRow, NewAttachment},
        volumes::VolumeRow,
    },
};

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct CreateAttachment {
    pub volume_id: String,
    pub instance_id: Option<String>,
    pub connector: Option<Map<String, Value>>,
    /// 3.54.
    pub mode: Option<String>,
}

/// # Errors
/// 400 when the volume's state or type does not allow it, 404, 500 when the back end failed, 504.
pub async fn create(app: &Arc<App>, ctx: &RequestContext, ask: CreateAttachment) -> Result<AttachmentRow> {
    // validate
    if let Some(given) = &ask.connector {
        connector::check(given)?;
    }
    let asked = ask.connector.as_ref().and_then(connector::mode);
    let mode = mode_of(ask.mode.as_deref(), asked).ok_or_else(|| refusal::invalid_input("Invalid attaching mode: use 'rw' or 'ro'."))?;
    // authorise
    let found = volume::load_row(app, ctx, &ask.volume_id).await?;
    app.policy.check(ctx, "volume:attachment_create", &Target::project(&found.project_id))?;
    // decide and commit: what is decided holds until the transaction ends
    let (mut tx, row) = volume::hold::hold_found(app, &found).await?;
    let attachments = tx.attachments_of(&row.id).await?;
    decide(app, ctx, &row, &attachments)?;
    let from = starts_from(&row, &attachments, ask.instance_id.as_deref());
    if !tx.volume_reserve(&row.id, from, row.multiattach, clock::now()).await? {
        return Err(refusal::invalid_volume(format!(
            "Volume {} status must be {} to reserve, but the current status is {}.",
            row.id,
            either(from),
            row.status
        )));
    }
    volume::migrate::ended(app, &mut tx, &row).await?;
    let readonly = row.readonly == Some(true);
    let mode = if readonly { AttachMode::ReadOnly } else { mode };
    let stored_mode = if ask.connector.is_none() && ask.mode.is_none() && !readonly { AttachMode::Unset } else { mode };
    let new = NewAttachment {
        id: Uuid::new_v4().to_string(),
        volume_id: row.id.clone(),
        project_id: row.project_id.clone(),
        instance_id: ask.instance_id,
        mode: stored_mode.as_str(),
        created_at: clock::now(),
    };
    tx.attachment_insert(&new).await?;
    tx.volume_follow_attachments(&row.id, clock::now()).await?;
    let job = match ask.connector {
        Some(connector) => {
            let ask = ConnectAsk { connector, mode: mode.as_str().to_owned(), verb: "create".to_owned(), ..ConnectAsk::default() };
            Some(super::begin_connect(app, ctx, &mut tx, &row, &new.id, &ask).await?)
        }
        None => None,
    };
    tx.commit().await?;
    if let Some(job) = job {
        super::wait(app, ctx, &job).await?;
    }
    super::load(app, ctx, &new.id).await
}

/// Refusals that no conditional change expresses.
fn decide(app: &App, ctx: &RequestContext, volume: &VolumeRow, attachments: &[AttachmentRow]) -> Result<()> {
    if VolumeStatus::parse(&volume.status).is_none_or(VolumeStatus::is_error) {
        return Err(refusal::invalid_volume(format!(
            "Volume attachments can not be created if the volume is in an error state. The Volume {} currently has a status of: {}",
            volume.id, volume.status
        )));
    }
    suits(app, ctx, volume, attachments)
}

/// As far as any attachment goes, whichever API asks for it: the volume is somewhere, and what several may boot from is policy.
pub(super) fn suits(app: &App, ctx: &RequestContext, volume: &VolumeRow, attachments: &[AttachmentRow]) -> Result<()> {
    if volume.host.is_none() {
        return Err(refusal::invalid_volume(format!(
            "Volume {} is not on any back end yet and cannot be attached; its status is {}.",
            volume.id, volume.status
        )));
    }
    if volume.bootable && volume.multiattach && !attachments.is_empty() {
        let target = Target::project(&volume.project_id);
        app.policy.check(ctx, "volume:multiattach_bootable_volume", &target)?;
    }
    Ok(())
}

/// From which states the volume takes this attachment. A live migration attaches for the same instance twice.
fn starts_from(volume: &VolumeRow, attachments: &[AttachmentRow], instance_id: Option<&str>) -> &'static [VolumeStatus] {
    let same_instance = instance_id.is_some() && attachments.iter().any(|a| a.instance_id.as_deref() == instance_id);
    if volume.multiattach {
        MULTIATTACH_FROM
    } else if same_instance {
        SAME_INSTANCE_FROM
    } else {
        ATTACH_FROM
    }
}

/// Two connections of a volume that only one may hold must be on different hosts (a migration's two ends).
pub(super) fn duplicate_connectors(volume_id: &str) -> Error {
    Error::conflict(format!("duplicate connectors detected on volume {volume_id}"))
}
