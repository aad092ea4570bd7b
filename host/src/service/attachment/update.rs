//! `PUT /attachments/{id}`: connects. The same connector again joins a connect that is under way.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{connector, create::duplicate_connectors};
use crate::{
    app::App,
    context::RequestContext,
    domain::{
        attachment::{AttachMode, mode_of},
        volume::VolumeStatus,
    },
    error::{Error, Result},
    jobs::task::ConnectAsk,
    service::refusal,
    store::sql::attachments::{AttachmentRow, CONNECT, DISCONNECT, UNPLUG},
};

/// # Errors
/// 400 for a bad connector, 404, 409 (error state, duplicate connectors, another change under way), 500 when the back end
/// failed, 504.
pub async fn update(app: &Arc<App>, ctx: &RequestContext, id: &str, connector: Map<String, Value>) -> Result<AttachmentRow> {
    connector::check(&connector)?;
    let attachment = super::load_for(app, ctx, id, "volume:attachment_update").await?;
    let stored = Some(attachment.mode.as_str()).filter(|m| *m != "null");
    let mode =
        mode_of(stored, connector::mode(&connector)).ok_or_else(|| refusal::invalid_input("Invalid attaching mode: use 'rw' or 'ro'."))?;
    let mut tx = app.store.begin().await?;
    let Some(volume) = tx.volume_locked(&attachment.volume_id).await? else { return Err(refusal::attachment_not_found(id)) };
    let Some(attachment) = tx.attachment(id).await? else { return Err(refusal::attachment_not_found(id)) };
    if let Some(job) = running(&attachment, &connector)? {
        tx.rollback().await?;
        super::wait(app, ctx, &job).await?;
        return super::load(app, ctx, id).await;
    }
    if VolumeStatus::parse(&volume.status).is_none_or(VolumeStatus::is_error) {
        return Err(Error::conflict(format!(
            "Volume attachments can not be updated if the volume is in an error state. The Volume {} currently has a status of: {}",
            volume.id, volume.status
        )));
    }
    if !volume.multiattach {
        let host = connector::host(&connector);
        let others = tx.attachments_of(&volume.id).await?;
        if others.iter().any(|o| o.id != id && reaches(o, host)) {
            return Err(duplicate_connectors(&volume.id));
        }
    }
    let mode = if volume.readonly == Some(true) { AttachMode::ReadOnly } else { mode };
    let ask = ConnectAsk { connector, mode: mode.as_str().to_owned(), verb: "update".to_owned(), ..ConnectAsk::default() };
    let job = super::begin_connect(app, ctx, &mut tx, &volume, id, &ask).await?;
    tx.commit().await?;
    super::wait(app, ctx, &job).await?;
    super::load(app, ctx, id).await
}

/// The job that already does what is asked.
///
/// # Errors
/// 409 when a job does something else.
pub(super) fn running(attachment: &AttachmentRow, connector: &Map<String, Value>) -> Result<Option<String>> {
    match attachment.work.as_deref() {
        None => Ok(None),
        Some(CONNECT) if attachment.work_connector.as_deref() == Some(Value::Object(connector.clone()).to_string().as_str()) => {
            Ok(attachment.job_id.clone())
        }
        Some(DISCONNECT) => Err(Error::conflict("The attachment is being deleted.")),
        Some(UNPLUG) => Err(Error::conflict("The attachment is being disconnected.")),
        Some(_) => Err(Error::conflict("The attachment is being connected with another connector.")),
    }
}

/// Whether an attachment is connected, or being connected, to this host.
fn reaches(attachment: &AttachmentRow, host: &str) -> bool {
    let being = attachment
        .work_connector
        .as_deref()
        .filter(|_| attachment.work.is_some())
        .and_then(|t| serde_json::from_str::<Map<String, Value>>(t).ok());
    (attachment.connection_info.is_some() && attachment.connector_host.as_deref() == Some(host))
        || being.is_some_and(|c| connector::host(&c) == host)
}
