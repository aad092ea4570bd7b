//! `os-initialize_connection`: connects a host to the volume and says how. Asked again by the same host it says it again.
//!
//! The connection belongs to an attachment: the one that host has (by that initiator, where several may have the volume), else
//! the one that is reserved, else one that is made for it and goes with it. A server that migrates is connected on its next host while its volume is in use on the one it is on.

use serde_json::{Map, Value, json};

use super::{awaits_attach, begin, hold, not_in_maintenance, starts_from};
use crate::{
    app::App,
    context::RequestContext,
    domain::{
        attachment::{AttachMode, AttachmentStatus, OlderAction, mode_of},
        volume::VolumeStatus,
    },
    error::{Error, Result},
    jobs::task::ConnectAsk,
    service::{
        attachment::{begin_connect, connector, sharing::Living, update::running, wait},
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

/// What the consumer needs: `driver_volume_type` and `data`.
///
/// # Errors
/// 400 for a bad connector or a state that does not allow it, 403, 404, 409 while the host's connection is being changed, 500 when
/// the back end failed, 504.
pub async fn initialize_connection(app: &App, ctx: &RequestContext, id: &str, given: Map<String, Value>) -> Result<Value> {
    connector::check(&given)?;
    let enforce_multipath = given.get("enforce_multipath").and_then(Value::as_bool).unwrap_or(false);
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:initialize_connection").await?;
    not_in_maintenance(&volume)?;
    let attachment = theirs_or_new(app, ctx, &mut tx, &volume, &given).await?;
    let job = match running(&attachment, &given)? {
        Some(job) => job,
        None => {
            let stored = Some(attachment.mode.as_str()).filter(|m| *m != AttachMode::Unset.as_str());
            let mode = mode_of(stored, connector::mode(&given));
            let mode = mode.ok_or_else(|| refusal::invalid_input("Invalid attaching mode: use 'rw' or 'ro'."))?;
            let mode = if volume.readonly == Some(true) { AttachMode::ReadOnly } else { mode };
            let ask =
                ConnectAsk { connector: given, mode: mode.as_str().to_owned(), verb: "initialize".to_owned(), ..ConnectAsk::default() };
            begin_connect(app, ctx, &mut tx, &volume, &attachment.id, &ask).await?
        }
    };
    tx.commit().await?;
    wait(app, ctx, &job).await?;
    let connected = app.store.attachment(&attachment.id).await?.and_then(|a| a.connection_info);
    let info = connected.and_then(|text| serde_json::from_str(&text).ok());
    let Some(Value::Object(mut info)) = info else {
        return Err(Error::conflict("The volume was disconnected by another request meanwhile."));
    };
    // attachments are not what this caller knows of
    info.remove("attachment_id");
    info.insert("enforce_multipath".to_owned(), json!(enforce_multipath));
    Ok(Value::Object(info))
}

/// The attachment whose connection this is.
async fn theirs_or_new(
    app: &App,
    ctx: &RequestContext,
    tx: &mut Tx,
    volume: &VolumeRow,
    given: &Map<String, Value>,
) -> Result<AttachmentRow> {
    let all = tx.attachments_of(&volume.id).await?;
    let living = || all.iter().filter(|a| a.work.as_deref() != Some(DISCONNECT));
    let on_this_host = living().filter(|a| is_on(volume, a, given)).max_by_key(|a| a.connection_info.is_some());
    let reserved = || living().filter(|a| awaits_attach(a) && !a.may_be_connected()).min_by_key(|a| a.created_at);
    if let Some(found) = on_this_host.or_else(reserved).or_else(|| attached_first(&all)) {
        return Ok(found.clone());
    }
    match migrating_server(volume, &all) {
        Some(server) => begin(app, ctx, tx, volume, &[VolumeStatus::InUse], OlderAction::Connect, Some(server)).await,
        None => begin(app, ctx, tx, volume, starts_from(volume), OlderAction::Connect, None).await,
    }
}

/// Connected to the host, being connected to it, or said to be attached there. Of a volume that several may have, another name
/// of the host is another's.
fn is_on(volume: &VolumeRow, a: &AttachmentRow, given: &Map<String, Value>) -> bool {
    let (end, host) = (connector::parse(given), connector::host(given));
    let connected = match Living::of(a) {
        Some(living) if volume.multiattach => living.is_on(&end),
        Some(living) => living.connector.host == host,
        None => false,
    };
    let wanted = a.work_connector.as_deref().and_then(connector::parse_text);
    let being = wanted.is_some_and(|c| if volume.multiattach { connector::same_end(&c, &end) } else { c.host == host });
    connected || being || (!a.may_be_connected() && a.attached_host.as_deref() == Some(host))
}

/// The only attachment, if it was said to be attached before it was connected.
fn attached_first(all: &[AttachmentRow]) -> Option<&AttachmentRow> {
    match all {
        [one] if one.is_older(OlderAction::Attach) && one.attached_host.is_none() && one.work.is_none() && !one.may_be_connected() => {
            Some(one)
        }
        _ => None,
    }
}

/// The one server that has a volume which only one may have: its migration connects the next host first.
fn migrating_server(volume: &VolumeRow, all: &[AttachmentRow]) -> Option<String> {
    let attached = |a: &&AttachmentRow| a.status == AttachmentStatus::Attached.as_str();
    match all.iter().filter(attached).collect::<Vec<_>>().as_slice() {
        [one] if !volume.multiattach => one.instance_id.clone(),
        _ => None,
    }
}
