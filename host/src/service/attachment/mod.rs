//! Attachments: who may reach which volume, and how.

pub mod complete;
pub mod connector;
pub mod create;
pub mod delete;
pub mod list;
pub mod older;
pub mod sharing;
pub mod show;
pub mod update;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::attachment::{OlderAction, STAYS, held_by_compute},
    error::{Error, Kind, Result},
    jobs::{NewJob, task::ConnectAsk},
    policy::Target,
    service::{refusal, volume::destroy::event_now},
    store::{
        Tx,
        sql::{attachments::AttachmentRow, volumes::VolumeRow},
    },
};

/// Connectors to which failed connects of one attachment may have left an export.
const MOST_LEFTOVERS: usize = 8;

/// The attachment, if the caller may know of it: another project's is not found.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<AttachmentRow> {
    match app.store.attachment(id).await? {
        Some(a) if ctx.is_admin() || a.project_id == ctx.project_id() => Ok(a),
        _ => Err(refusal::attachment_not_found(id)),
    }
}

/// As [`load`], and the caller may do `action` with it.
async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<AttachmentRow> {
    let attachment = load(app, ctx, id).await?;
    app.policy.check(ctx, action, &Target::project(&attachment.project_id))?;
    Ok(attachment)
}

/// CVE-2023-2088: what a server uses may only be taken from it by the compute service, which shows a service token.
///
/// # Errors
/// 409.
fn may_go(ctx: &RequestContext, attachment: &AttachmentRow) -> Result<()> {
    match attachment.instance_id.as_deref() {
        Some(instance) if held_by_compute(true, attachment.connection_info.is_some(), ctx.service_token) => {
            Err(used_by_compute(format!("Detach volume from instance {instance} using the Compute API")))
        }
        _ => Ok(()),
    }
}

/// As [`may_go`], of what is taken away as a whole: what an older `os-initialize_connection` gave a server counts with the
/// server's attachment.
fn may_be_taken(ctx: &RequestContext, attachment: &AttachmentRow, all: &[AttachmentRow]) -> Result<()> {
    let its = |a: &&AttachmentRow| a.is_older(OlderAction::Connect) && a.instance_id.is_some() && a.instance_id == attachment.instance_id;
    may_go(ctx, attachment)?;
    if attachment.older.is_some() { all.iter().filter(its).try_for_each(|a| may_go(ctx, a)) } else { Ok(()) }
}

fn used_by_compute(message: String) -> Error {
    Error::conflict(message).with_class("ConflictNovaUsingAttachment")
}

fn job(app: &App, ctx: &RequestContext, volume: &VolumeRow, attachment_id: &str, kind: &'static str, payload: Value) -> NewJob {
    let asker =
        Asker { request_id: ctx.request_id.clone(), project_id: ctx.project_id().to_owned(), user_id: ctx.principal.user_id.clone() };
    job_for(app, asker, volume, attachment_id, kind, payload)
}

/// On whose behalf a job works.
pub struct Asker {
    pub request_id: String,
    pub project_id: String,
    pub user_id: String,
}

/// A job about one attachment. Jobs of one volume run one at a time.
pub fn job_for(app: &App, asker: Asker, volume: &VolumeRow, attachment_id: &str, kind: &'static str, payload: Value) -> NewJob {
    NewJob {
        kind,
        resource_kind: "attachment",
        order_key: volume.id.clone(),
        resource_id: attachment_id.to_owned(),
        backend: volume.backend().map(str::to_owned),
        payload,
        max_age: app.config.get().jobs.max_age,
        request_id: asker.request_id,
        project_id: asker.project_id,
        user_id: asker.user_id,
    }
}

/// Hands the attachment to a new job that connects it, in the caller's transaction; the job's id.
async fn begin_connect(
    app: &App,
    ctx: &RequestContext,
    tx: &mut Tx,
    volume: &VolumeRow,
    attachment_id: &str,
    ask: &ConnectAsk,
) -> Result<String> {
    let Some(before) = tx.attachment(attachment_id).await? else { return Err(refusal::attachment_not_found(attachment_id)) };
    may_move(ctx, &before, &ask.connector)?;
    let leftovers = leftovers(&before, &ask.connector)?;
    let connector = serde_json::Value::Object(ask.connector.clone()).to_string();
    let ask = ConnectAsk { was_connected: before.connection_info.is_some(), ..ask.clone() };
    let job_id = tx.enqueue(&app.jobs, job(app, ctx, volume, attachment_id, "attachment.connect", serde_json::json!(ask))).await?;
    if !tx.attachment_begin_connect(attachment_id, STAYS, &job_id, &connector, leftovers.as_deref(), clock::now()).await? {
        return Err(Error::conflict("The attachment is being changed by another request."));
    }
    event_now(tx, "volume.attach.start", &volume.id, &ctx.request_id).await?;
    Ok(job_id)
}

/// To connect elsewhere ends the connection there is, so it takes it from the server that uses it, as [`may_go`] has it. The
/// end it is connected to may be connected again by anybody who may connect it.
///
/// # Errors
/// 409.
fn may_move(ctx: &RequestContext, attachment: &AttachmentRow, asked: &Map<String, Value>) -> Result<()> {
    let asked = connector::parse(asked);
    match attachment.connector.as_deref().and_then(connector::parse_text) {
        Some(now) if connector::same_end(&now, &asked) => Ok(()),
        _ => may_go(ctx, attachment),
    }
}

/// The connectors to which failed connects may have left an export, once `asked` is asked for: it takes the place of the last.
///
/// # Errors
/// 409 when there are more than [`MOST_LEFTOVERS`]: what a back end does not take back is not to grow.
fn leftovers(attachment: &AttachmentRow, asked: &Map<String, Value>) -> Result<Option<String>> {
    let earlier = attachment.leftovers.as_deref().and_then(|text| serde_json::from_str::<Vec<Map<String, Value>>>(text).ok());
    let last = attachment.work_connector.as_deref().filter(|_| attachment.work.is_none());
    let last = last.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    let mut ends = vec![connector::parse(asked)];
    let mut left = Vec::new();
    for map in earlier.unwrap_or_default().into_iter().chain(last) {
        let end = connector::parse(&map);
        if !ends.iter().any(|e| connector::same_end(e, &end)) {
            ends.push(end);
            left.push(map);
        }
    }
    if left.len() > MOST_LEFTOVERS {
        return Err(Error::conflict(format!(
            "The storage back end may still export the volume to {} other connectors that it was to be connected to: delete the attachment {}.",
            left.len(),
            attachment.id
        )));
    }
    Ok((!left.is_empty()).then(|| serde_json::json!(left).to_string()))
}

/// The job's answer, or 504 when the caller will not wait any longer. The job goes on either way.
async fn wait(app: &App, ctx: &RequestContext, job_id: &str) -> Result<()> {
    let left = u64::try_from(ctx.deadline - clock::now()).unwrap_or(0);
    let patience = app.config.get().jobs.wait.min(Duration::from_micros(left).saturating_sub(Duration::from_millis(250)));
    match app.jobs.wait(job_id, patience).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(fault)) => Err(fault.into()),
        Err(_) => {
            Err(Error::new(Kind::Timeout, "The storage back end has not answered yet. The operation goes on; ask again for its result."))
        }
    }
}
