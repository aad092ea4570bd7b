//! `os-terminate_connection`: a host lets the volume go. The attachment stays until `os-detach`, without its connection; one
//! that was made for the connection goes. Where several attachments live on the connection it stays for them, and each
//! `os-detach` takes its own.

use serde_json::{Map, Value, json};

use super::{hold, named, which_one};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::attachment::OlderAction,
    driver::types::Connector,
    error::{Error, Result},
    jobs::task::DisconnectAsk,
    service::attachment::{connector, job, may_be_taken, may_go, sharing::Living, wait},
    store::sql::{
        attachments::{AttachmentRow, DISCONNECT, UNPLUG},
        volumes::VolumeRow,
    },
};

/// # Errors
/// 400 for a bad connector, 403, 404, 409 when a server uses the connection and not the compute service asks, 500 when the back end
/// failed, 504.
pub async fn terminate_connection(app: &App, ctx: &RequestContext, id: &str, given: Map<String, Value>) -> Result<()> {
    connector::check(&given)?;
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:terminate_connection").await?;
    let all = tx.attachments_of(id).await?;
    if !ctx.service_token {
        match named(&all).as_slice() {
            [] => {}
            [one] => may_be_taken(ctx, one, &all)?,
            _ => return Err(which_one(id)),
        }
    }
    let Some(attachment) = on_this_end(&volume, &all, &connector::parse(&given)) else { return Ok(()) };
    may_go(ctx, attachment)?;
    let job = match (attachment.work.as_deref(), &attachment.job_id) {
        (Some(DISCONNECT | UNPLUG), Some(job)) => job.clone(),
        _ => {
            let ask = DisconnectAsk { status: attachment.status.clone(), ..DisconnectAsk::default() };
            let new = job(app, ctx, &volume, &attachment.id, "attachment.disconnect", json!(ask));
            let new = tx.enqueue(&app.jobs, new).await?;
            if !tx.attachment_begin_unplug(&attachment.id, &new, clock::now()).await? {
                return Err(Error::conflict("The attachment is being changed by another request."));
            }
            new
        }
    };
    tx.commit().await?;
    wait(app, ctx, &job).await
}

/// The attachment whose connection ends; none when there is no such connection, or it is not one attachment's alone.
fn on_this_end<'a>(volume: &VolumeRow, all: &'a [AttachmentRow], wanted: &Connector) -> Option<&'a AttachmentRow> {
    let connected: Vec<_> = all.iter().filter(|a| is_on(volume, a, wanted)).collect();
    match connected.as_slice() {
        [one] => Some(one),
        several => several.iter().copied().find(|a| a.is_older(OlderAction::Connect)),
    }
}

/// Whether it is, or may be half, connected to the host; of a volume that several may have, to this very name of it.
fn is_on(volume: &VolumeRow, a: &AttachmentRow, wanted: &Connector) -> bool {
    let on_host = |text: &Option<String>| text.as_deref().and_then(connector::parse_text).is_some_and(|c| same_host(&c, wanted));
    let connected = match Living::of(a).filter(|_| volume.multiattach) {
        Some(living) => living.is_on(wanted),
        None => on_host(&a.connector),
    };
    connected || on_host(&a.work_connector)
}

/// The same host, by its name or, when none is given, by its initiator.
fn same_host(a: &Connector, b: &Connector) -> bool {
    if b.host.is_empty() { b.initiator.is_some() && a.initiator == b.initiator } else { a.host == b.host }
}
