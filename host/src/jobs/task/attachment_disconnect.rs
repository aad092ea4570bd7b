//! `attachment.disconnect`: the driver lets the connector go as far as no other attachment of the volume lives on it; then
//! the row goes and the volume shows what is left. The older `os-terminate_connection` ends the connection alone: then the
//! row stays, without it.
//!
//! What is gone already is success. When the driver fails and repeats do not help, nothing has changed: the attachment is
//! what it was, and the caller gets the error.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    attachment_connect::{align, leftovers},
    block_support as support, connect_turn,
    connection_end::{end_all, leave, living},
    repeats,
};
use crate::{
    clock,
    domain::attachment::{AttachmentStatus, OlderAction, without_connection},
    driver::{DriverError, DriverResult, ErrorKind, types::Connector},
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    service::attachment::{
        connector::{parse, same_end},
        delete::{forget, remove},
        sharing::{access_mode, share},
    },
    store::sql::{
        attachments::{AttachmentRow, DISCONNECT, UNPLUG},
        volumes::VolumeRow,
    },
};

pub struct AttachmentDisconnect;

/// The job's arguments.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ask {
    /// What the attachment was, for a failure.
    pub status: String,
    #[serde(default)]
    pub failures: u32,
    /// Another connector that is to be let go with it (`os-force_detach` names one).
    #[serde(default)]
    pub connector: Option<serde_json::Map<String, serde_json::Value>>,
    /// Whoever the back end still exports the volume to is let go, provided this is its only attachment.
    #[serde(default)]
    pub everybody: bool,
}

impl Task for AttachmentDisconnect {
    fn kind(&self) -> &'static str {
        "attachment.disconnect"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask =
                serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
            let Some((attachment, volume)) = mine(cx).await? else { return settled(cx).await };
            let volume = align(cx, volume).await?;
            let connectors = connectors(&attachment, &ask);
            let hosts = connectors.iter().map(|c| c.host.as_str());
            let Some(_turn) = connect_turn::take(cx, &volume, hosts).await? else { return Ok(connect_turn::later(json!(ask))) };
            match disconnect(cx, &attachment, &volume, &connectors, ask.everybody).await? {
                Ok(()) => disconnected(cx, &attachment, &volume).await,
                Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
                Err(e) => {
                    tracing::warn!(attachment_id = %attachment.id, volume_id = %volume.id, error = %e, "the driver did not disconnect the volume");
                    ask.failures += 1;
                    if let Some(after) = repeats::again(&e, ask.failures) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &attachment, &volume, &ask, &e).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some((attachment, volume)) = mine(cx).await? else { return settled(cx).await };
            let status = cx.job.payload.get("status").and_then(serde_json::Value::as_str).unwrap_or("attached").to_owned();
            let error = DriverError::new(ErrorKind::Deadline, "the disconnect did not end in time");
            failed(cx, &attachment, &volume, &Ask { status, ..Ask::default() }, &error).await
        })
    }
}

/// The attachment and its volume, while this job owns it.
async fn mine(cx: &JobContext) -> Result<Option<(AttachmentRow, VolumeRow)>, TaskError> {
    let Some(attachment) = cx.app.store.attachment(&cx.job.resource_id).await? else { return Ok(None) };
    if !is_ours(cx, &attachment) {
        return Ok(None);
    }
    Ok(cx.app.store.volume(&attachment.volume_id).await?.map(|volume| (attachment, volume)))
}

fn is_ours(cx: &JobContext, attachment: &AttachmentRow) -> bool {
    matches!(attachment.work.as_deref(), Some(DISCONNECT | UNPLUG)) && attachment.job_id.as_deref() == Some(cx.job.id.as_str())
}

async fn settled(cx: &JobContext) -> Result<Outcome, TaskError> {
    cx.settle(cx.app.store.begin().await?, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}

/// Every connector this attachment is, or may be half, connected to, and the one that was named.
fn connectors(attachment: &AttachmentRow, ask: &Ask) -> Vec<Connector> {
    let texts = [attachment.connector.as_deref(), attachment.work_connector.as_deref()];
    let maps = texts.into_iter().flatten().filter_map(|t| serde_json::from_str(t).ok());
    let mut found: Vec<Connector> = Vec::new();
    for connector in maps.chain(ask.connector.clone()).map(|map| parse(&map)).chain(leftovers(attachment)) {
        if !found.iter().any(|f| same_end(f, &connector)) {
            found.push(connector);
        }
    }
    found
}

/// The row goes, or stays without a connection.
async fn disconnected(cx: &JobContext, attachment: &AttachmentRow, volume: &VolumeRow) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    // held: what the attachment has become meanwhile (os-attach) decides
    tx.volume_locked(&volume.id).await?;
    match tx.attachment(&attachment.id).await? {
        // what `os-initialize_connection` made without a reservation is its connection and nothing else
        Some(now) if now.work.as_deref() == Some(UNPLUG) && now.is_older(OlderAction::Connect) => {
            forget(&mut tx, attachment, Some(&cx.job.id), &cx.job.request_id).await?;
        }
        Some(now) if now.work.as_deref() == Some(UNPLUG) => {
            tx.attachment_let_go(&now.id, &cx.job.id, without_connection(&now.status, now.older.is_some()), clock::now()).await?;
            tx.volume_follow_attachments(&volume.id, clock::now()).await?;
        }
        _ => {
            remove(&mut tx, attachment, Some(&cx.job.id), &cx.job.request_id).await?;
        }
    }
    cx.settle(tx, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}

async fn disconnect(
    cx: &JobContext,
    attachment: &AttachmentRow,
    volume: &VolumeRow,
    connectors: &[Connector],
    everybody: bool,
) -> Result<DriverResult<()>, TaskError> {
    if connectors.is_empty() && !everybody {
        return Ok(Ok(())); // never connected
    }
    let told = support::driver_volume(cx, volume).await?;
    let backend = || cx.app.drivers.backend(volume.backend().unwrap_or_default());
    if everybody && cx.app.store.attachments_of(&volume.id).await?.len() <= 1 {
        return Ok(match backend() {
            Ok(backend) => end_all(cx, &backend, &told).await,
            Err(e) => Err(e),
        });
    }
    let mode = access_mode(&attachment.mode);
    for connector in connectors {
        let share = share(living(cx, &volume.id, Some(&attachment.id)).await?, connector);
        if share.stays_as_it_is(mode) {
            continue; // another attachment of the volume lives on this connection
        }
        let left = match backend() {
            Ok(backend) => leave(cx, &backend, &told, &share, mode).await,
            Err(e) => Err(e),
        };
        if let Err(e) = left {
            return Ok(Err(e));
        }
    }
    Ok(Ok(()))
}

async fn failed(cx: &JobContext, attachment: &AttachmentRow, volume: &VolumeRow, ask: &Ask, e: &DriverError) -> Result<Outcome, TaskError> {
    let unplug = attachment.work.as_deref() == Some(UNPLUG);
    let mut tx = cx.app.store.begin().await?;
    tx.volume_locked(&volume.id).await?;
    let Some(now) = tx.attachment(&attachment.id).await?.filter(|a| is_ours(cx, a)) else {
        tx.rollback().await?;
        return settled(cx).await;
    };
    let status = match AttachmentStatus::parse(&ask.status) {
        // its status is no part of what an unplug changes: what was said of it meanwhile (os-attach, os-complete) holds
        _ if unplug => now.status.as_str(),
        // its delete found it on the way from one connection to another: it has neither
        Some(AttachmentStatus::Attaching) if now.connection_info.is_none() => without_connection(&ask.status, now.older.is_some()),
        _ => ask.status.as_str(),
    };
    tx.attachment_released(&now.id, &cx.job.id, status, true, clock::now()).await?;
    tx.volume_follow_attachments(&volume.id, clock::now()).await?;
    support::tell(&mut tx, cx, volume, Action::UpdateAttachment, Detail::DetachingFailed, e.user_text()).await?;
    let what = if unplug { "Unable to terminate volume connection from backend." } else { "Unable to delete the attachment." };
    cx.settle(tx, Err(support::fault(what, e))).await?;
    Ok(Outcome::Settled)
}
