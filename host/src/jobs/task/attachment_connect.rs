//! `attachment.connect`: the driver exports the volume to the connector; the caller waits for what it says.
//!
//! Repeats find what an earlier run exported. On failure the export is removed again, as far as no other attachment of the
//! volume lives on it, and the attachment is what it was; so it is when the job grows too old. An export that
//! could not be removed is remembered, and removed before the next connect, or with the attachment. One that was
//! connected elsewhere, or by another initiator, loses that connection first; if the new one then fails it is a reservation.
//! A connection that others live on too is connected in the widest mode that any of them has.
//! An attachment that is deleted meanwhile belongs to the disconnect that comes next; this job then only ends. One that an
//! older action made for this connection alone goes when it fails.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    DisconnectAsk, block_support as support, connect_turn,
    connection_end::{leave, living, take_back},
    connection_view::connection_info,
    repeats,
    snapshot_support::lost_a_run,
};
use crate::{
    clock,
    domain::attachment::{OlderAction, without_connection},
    driver::{
        Backend, DriverError, DriverResult, ErrorKind,
        types::{self, AccessMode, Connection, Connector},
    },
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    service::{
        attachment::{
            Asker,
            connector::{parse, parse_text, same_end},
            delete::forget,
            job_for,
            sharing::{access_mode, share},
        },
        volume::{destroy::event_now, follow},
    },
    store::{
        Tx,
        sql::{
            attachments::{AttachmentRow, CONNECT, Connected},
            qos_specs::QosSpecs,
            volumes::VolumeRow,
        },
    },
};

pub struct AttachmentConnect;

/// The job's arguments.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ask {
    /// As the client sent it.
    pub connector: Map<String, Value>,
    pub mode: String,
    /// `create`, `update` or `initialize`: which sentence a failure gets.
    pub verb: String,
    #[serde(default)]
    pub failures: u32,
    /// A failed run, or one of which nothing is known, may have connected it.
    #[serde(default)]
    pub uncertain: bool,
    /// The last run that ended with what stands here.
    #[serde(default)]
    pub ended: i64,
    /// It had a connection when this connect was asked for: without one it is then no longer what it was.
    #[serde(default)]
    pub was_connected: bool,
}

impl Task for AttachmentConnect {
    fn kind(&self) -> &'static str {
        "attachment.connect"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask =
                serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
            ask.uncertain |= lost_a_run(ask.ended, cx.job.attempts);
            ask.ended = cx.job.attempts;
            let Some((mut attachment, volume)) = mine(cx).await? else { return gone(cx).await };
            let volume = align(cx, volume).await?;
            let connector = parse(&ask.connector);
            let ends: Vec<Connector> = connected_to(&attachment).into_iter().chain(leftovers(&attachment)).collect();
            let hosts = ends.iter().map(|end| end.host.as_str()).chain([connector.host.as_str()]);
            let Some(_turn) = connect_turn::take(cx, &volume, hosts).await? else { return Ok(connect_turn::later(json!(ask))) };
            match connect(cx, &mut attachment, &volume, &connector, &ask).await? {
                Ok(connection) => connected(cx, &attachment, &volume, &connector, &ask, &connection).await,
                Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
                Err(e) => {
                    tracing::warn!(attachment_id = %attachment.id, volume_id = %volume.id, error = %e, "the driver did not connect the volume");
                    ask.failures += 1;
                    ask.uncertain |= e.may_have_happened();
                    if let Some(after) = repeats::again(&e, ask.failures) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &attachment, &volume, &connector, &ask, &e, true).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some((attachment, volume)) = mine(cx).await? else { return gone(cx).await };
            let Ok(ask) = serde_json::from_value::<Ask>(cx.job.payload.clone()) else { return gone(cx).await };
            let error = DriverError::new(ErrorKind::Deadline, "the connect did not end in time");
            let connector = parse(&ask.connector);
            let turn = connect_turn::take(cx, &volume, [connector.host.as_str()]).await?;
            failed(cx, &attachment, &volume, &connector, &ask, &error, turn.is_some()).await
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
    attachment.work.as_deref() == Some(CONNECT) && attachment.job_id.as_deref() == Some(cx.job.id.as_str())
}

async fn gone(cx: &JobContext) -> Result<Outcome, TaskError> {
    let fault = JobFault { kind: Kind::Conflict, message: "The attachment was deleted while it was being connected.".to_owned() };
    cx.settle(cx.app.store.begin().await?, Err(fault)).await?;
    Ok(Outcome::Settled)
}

async fn connect(
    cx: &JobContext,
    attachment: &mut AttachmentRow,
    volume: &VolumeRow,
    connector: &Connector,
    ask: &Ask,
) -> Result<DriverResult<Connection>, TaskError> {
    let host = volume.backend().unwrap_or_default();
    let backend = match cx.app.drivers.backend(host) {
        Ok(backend) => backend,
        Err(e) => return Ok(Err(e)),
    };
    let told = support::driver_volume(cx, volume).await?;
    if let Err(e) = take_back_leftovers(cx, &backend, &told, attachment, connector).await? {
        return Ok(Err(e));
    }
    if let Some(earlier) = connected_to(attachment).filter(|earlier| !same_end(earlier, connector)) {
        // while others live on the connection, it is theirs
        let share = share(living(cx, &volume.id, Some(&attachment.id)).await?, &earlier);
        if let Err(e) = leave(cx, &backend, &told, &share, access_mode(&attachment.mode)).await {
            return Ok(Err(e));
        }
        unplugged(cx, attachment).await?;
    }
    let others = living(cx, &volume.id, Some(&attachment.id)).await?;
    let mode = share(others, connector).with(access_mode(&ask.mode));
    let call = support::call(cx, "connect");
    let answer = async {
        let driver = backend.need_connection_info()?;
        driver.validate_connector(&call, connector).await?;
        driver.connect(&call, &told, &attachment.id, mode, connector).await
    };
    Ok(answer.await)
}

/// Removes what failed connects left exported to others than `connector`. What cannot be removed is kept in mind.
///
/// # Errors
/// Only that the lease is lost: that an old export stays is no reason not to connect.
async fn take_back_leftovers(
    cx: &JobContext,
    backend: &Backend,
    told: &types::Volume,
    attachment: &mut AttachmentRow,
    connector: &Connector,
) -> Result<DriverResult<()>, TaskError> {
    let Some(Ok(left)) = attachment.leftovers.as_deref().map(serde_json::from_str::<Vec<Map<String, Value>>>) else { return Ok(Ok(())) };
    let mut kept = Vec::new();
    for map in left {
        let end = parse(&map);
        if same_end(&end, connector) {
            continue; // it is about to be connected
        }
        // what it is connected to itself goes when that does
        let share = share(living(cx, &attachment.volume_id, None).await?, &end);
        match leave(cx, backend, told, &share, AccessMode::ReadWrite).await {
            Ok(()) => {}
            Err(e) if e.kind == ErrorKind::LeaseLost => return Ok(Err(e)),
            Err(e) => {
                tracing::warn!(attachment_id = %attachment.id, error = %e, "the export of an earlier, failed connect could not be taken back yet");
                kept.push(map);
            }
        }
    }
    let kept = (!kept.is_empty()).then(|| json!(kept).to_string());
    let mut tx = cx.app.store.begin().await?;
    tx.attachment_leftovers(&attachment.id, &cx.job.id, kept.as_deref()).await?;
    cx.commit_step(tx).await?;
    attachment.leftovers = kept;
    Ok(Ok(()))
}

/// To whom failed connects may have left an export.
pub(super) fn leftovers(attachment: &AttachmentRow) -> Vec<Connector> {
    let left = attachment.leftovers.as_deref().and_then(|text| serde_json::from_str::<Vec<Map<String, Value>>>(text).ok());
    left.unwrap_or_default().iter().map(parse).collect()
}

/// A change of `shared_targets` to the safer value is in force before anybody is connected, or let go, by the driver that
/// reported it.
pub(super) async fn align(cx: &JobContext, volume: VolumeRow) -> Result<VolumeRow, TaskError> {
    let host = volume.backend().unwrap_or_default();
    let Some(row) = cx.app.store.backend(host).await? else { return Ok(volume) };
    let identity = follow::identity(&row);
    let same = identity.shared_targets == volume.shared_targets
        && volume.service_uuid.as_deref() == Some(identity.service_uuid.as_str())
        && volume.backend_name.as_deref() == Some(identity.backend_name.as_str());
    if same {
        return Ok(volume);
    }
    let mut tx = cx.app.store.begin().await?;
    if let Some(row) = tx.backend_kept(host).await? {
        tx.volume_identity(&volume.id, &follow::identity(&row)).await?;
    }
    let aligned = tx.volume(&volume.id).await?;
    cx.commit_step(tx).await?;
    Ok(aligned.unwrap_or(volume))
}

/// The connector it is connected to so far.
fn connected_to(attachment: &AttachmentRow) -> Option<Connector> {
    attachment.connector.as_deref().and_then(parse_text)
}

/// The earlier connection has ended: from here on there is none to go back to.
async fn unplugged(cx: &JobContext, attachment: &mut AttachmentRow) -> Result<(), TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.attachment_unplugged(&attachment.id, &cx.job.id, clock::now()).await?;
    cx.commit_step(tx).await?;
    (attachment.connector, attachment.connector_host, attachment.connection_info, attachment.mountpoint) = (None, None, None, None);
    Ok(())
}

async fn connected(
    cx: &JobContext,
    attachment: &AttachmentRow,
    volume: &VolumeRow,
    connector: &Connector,
    ask: &Ask,
    connection: &Connection,
) -> Result<Outcome, TaskError> {
    let qos = support::qos_of_type(cx, &volume.volume_type_id).await?.and_then(QosSpecs::at_the_front_end);
    let done = Connected {
        connector: json!(ask.connector).to_string(),
        connector_host: connector.host.clone(),
        mountpoint: connector.mountpoint.clone(),
        connection_info: connection_info(connection, &attachment.id, &volume.id, access_mode(&ask.mode), qos.as_ref()).to_string(),
        mode: access_mode(&ask.mode).as_str(),
    };
    let mut tx = cx.app.store.begin().await?;
    tx.volume_locked(&volume.id).await?;
    if !tx.attachment_connected(&attachment.id, &cx.job.id, &done, clock::now()).await? {
        // deleted meanwhile: the disconnect that comes next removes the export
        tx.rollback().await?;
        return gone(cx).await;
    }
    tx.volume_follow_attachments(&volume.id, clock::now()).await?;
    event_now(&mut tx, "volume.attach.end", &volume.id, &cx.job.request_id).await?;
    cx.settle(tx, Ok(json!({ "attachment_id": attachment.id }))).await?;
    Ok(Outcome::Settled)
}

/// Takes the export back and gives the attachment its earlier state. `may_call`: it is this job's turn on the host.
async fn failed(
    cx: &JobContext,
    attachment: &AttachmentRow,
    volume: &VolumeRow,
    connector: &Connector,
    ask: &Ask,
    e: &DriverError,
    may_call: bool,
) -> Result<Outcome, TaskError> {
    let host = volume.backend().unwrap_or_default();
    // what it lives on itself is not taken back
    let share = share(living(cx, &volume.id, None).await?, connector);
    let mode = access_mode(&ask.mode);
    let uncertain = ask.uncertain || e.may_have_happened();
    let mut leftover = uncertain && !share.stays_as_it_is(mode);
    if leftover
        && may_call
        && let Ok(backend) = cx.app.drivers.backend(host)
    {
        let told = support::driver_volume(cx, volume).await?;
        match take_back(cx, &backend, &told, &share, mode).await {
            Ok(()) => leftover = false,
            Err(e) => {
                tracing::error!(attachment_id = %attachment.id, error = %e, "an export could not be taken back; deleting the attachment tries again")
            }
        }
    }
    let mut tx = cx.app.store.begin().await?;
    tx.volume_locked(&volume.id).await?;
    // what was said of it meanwhile (os-attach, os-complete) holds, and what somebody else's job has is that job's
    let Some(attachment) = tx.attachment(&attachment.id).await?.filter(|a| is_ours(cx, a)) else {
        tx.rollback().await?;
        return gone(cx).await;
    };
    if attachment.is_older(OlderAction::Connect) && attachment.connection_info.is_none() {
        without_purpose(&mut tx, cx, &attachment, volume, leftover || attachment.leftovers.is_some()).await?;
    } else {
        // a connection that has ended on the way to the new one does not come back
        let unplugged = ask.was_connected && attachment.connection_info.is_none();
        let status = if unplugged { without_connection(&attachment.status, attachment.older.is_some()) } else { &attachment.status };
        tx.attachment_released(&attachment.id, &cx.job.id, status, leftover, clock::now()).await?;
    }
    tx.volume_follow_attachments(&volume.id, clock::now()).await?;
    support::tell(&mut tx, cx, volume, Action::AttachVolume, Detail::AttachingFailed, e.user_text()).await?;
    let what = match ask.verb.as_str() {
        "create" => "Unable to create attachment for volume.",
        "initialize" => "Unable to fetch connection information from backend.",
        _ => "Unable to update the attachment.",
    };
    let mut fault = support::fault(what, e);
    if e.kind == ErrorKind::Invalid {
        fault.kind = Kind::Invalid; // the connector is the caller's
    }
    cx.settle(tx, Err(fault)).await?;
    Ok(Outcome::Settled)
}

/// What was made for this connection alone goes at once, or, where the back end may still export the volume, when a job has
/// taken that back. The attachment is this job's, and the caller holds its volume.
async fn without_purpose(
    tx: &mut Tx,
    cx: &JobContext,
    attachment: &AttachmentRow,
    volume: &VolumeRow,
    leftover: bool,
) -> Result<(), TaskError> {
    if !leftover {
        forget(tx, attachment, Some(&cx.job.id), &cx.job.request_id).await?;
        return Ok(());
    }
    let asker = Asker { request_id: cx.job.request_id.clone(), project_id: cx.job.project_id.clone(), user_id: cx.job.user_id.clone() };
    let ask = DisconnectAsk { status: attachment.status.clone(), ..DisconnectAsk::default() };
    let job = job_for(&cx.app, asker, volume, &attachment.id, "attachment.disconnect", json!(ask));
    let job = tx.enqueue(&cx.app.jobs, job).await?;
    tx.attachment_begin_disconnect(&attachment.id, &job, clock::now()).await?;
    Ok(())
}
