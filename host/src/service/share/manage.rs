//! `POST /shares/manage`: a share that somebody else made becomes one of ours. Its rows come at once, in `manage_starting` and
//! without a size; a job has the driver take it over, and the share ends available, or in `manage_error` with a message.
//!
//! What is there already only has to be counted: no limit keeps an operator from it.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::destroy::{event, quota};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{share::ShareStatus, share_server::ServerStatus, share_type::Attributes},
    driver::types::{ExportLocation, StringMap},
    error::{Error, Result},
    policy::Target,
    service::{backend::not_found, share_refusal as refusal, share_type::handles_servers},
    store::{
        Tx,
        sql::{
            backends::{BackendKind, BackendRow},
            share_list::Share,
            share_servers::ShareServerRow,
            shares::NewShare,
            types::{Type, TypeOf},
        },
    },
};

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct ManageShare {
    /// `host@backend#pool`.
    pub service_host: String,
    pub export_path: String,
    pub protocol: String,
    /// Name or id.
    pub share_type: Option<String>,
    /// For the driver.
    pub options: Vec<(String, String)>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub is_public: bool,
    pub share_server_id: Option<String>,
    pub mount_point_name: Option<String>,
}

/// # Errors
/// 400 also for a back end that is down and a server that does not fit, 403, 404 (back end, pool, type), 409 when a share of the
/// back end is exported there.
pub async fn manage(app: &Arc<App>, ctx: &RequestContext, ask: ManageShare) -> Result<Share> {
    // authorise
    app.policy.check(ctx, "share:manage", &Target::own(ctx))?;
    if ask.is_public {
        app.policy.check(ctx, "share:create_public_share", &Target::own(ctx))?;
    }
    // validate
    let backend = place(app, &ask.service_host).await?;
    let share_type = super::create::share_type_of(app, ctx, ask.share_type.as_deref()).await?;
    super::mount_point::check(&share_type, ask.mount_point_name.as_deref())?;
    let server = server(app, &backend, &share_type, ask.share_server_id.as_deref()).await?;
    // decide and commit
    let mut tx = app.store.begin().await?;
    // until this transaction ends: the type is neither deleted nor given other specs
    let Some(type_name) = tx.type_name_kept(TypeOf::Share, &share_type.row.id).await? else { return Err(refusal::type_not_found()) };
    if !tx.type_specs_are(TypeOf::Share, &share_type.row.id, &share_type.specs).await? {
        return Err(refusal::type_changed(&type_name));
    }
    if let Some(server) = &server {
        // the network first, as everybody who works on one
        super::network::keep(&mut tx, Some(&server.share_network_id)).await?;
        let now = tx.share_server_locked(&server.id).await?;
        check_active(now.as_ref())?;
    }
    // of two who want the same share one comes first
    tx.ensure_turn(&backend.host).await?;
    if tx.shares_exported_at(&backend.host, &ask.export_path).await? > 0 {
        return Err(Error::conflict(format!(
            "Invalid share: a share of {} is exported at {:.255} already.",
            backend.host, ask.export_path
        )));
    }
    let share = row(ctx, &ask, &share_type, server.as_ref());
    let made = insert(app, ctx, &mut tx, &share, &ask, &backend, server.as_ref()).await?;
    tx.commit().await?;
    Ok(made)
}

/// The back end of a pool, if both are there.
async fn place(app: &App, host: &str) -> Result<BackendRow> {
    let Some((backend, _)) = host.split_once('#').filter(|(_, pool)| !pool.is_empty()) else {
        return Err(Error::invalid("service_host parameter should contain pool."));
    };
    let row = app.store.backend(backend).await?.filter(|b| b.kind == BackendKind::Share).ok_or_else(|| not_found(host))?;
    if !app.store.pools_of(backend).await?.iter().any(|p| p.name == host) {
        return Err(not_found(host));
    }
    row.state(clock::now()).map_err(|why| Error::invalid(format!("Service {backend} is down: {why}.")))?;
    Ok(row)
}

/// The server that the share is on, as its type says that it must be on one.
async fn server(app: &App, backend: &BackendRow, share_type: &Type, id: Option<&str>) -> Result<Option<ShareServerRow>> {
    let id = match (handles_servers(share_type), id) {
        (false, None) => return Ok(None),
        (true, Some(id)) => id,
        (true, None) => {
            return Err(refusal::invalid_input(
                "Share server id must be given for a share type with driver_handles_share_servers set to True.",
            ));
        }
        (false, Some(_)) => {
            return Err(refusal::invalid_input(
                "Share server id must not be given for a share type with driver_handles_share_servers set to False.",
            ));
        }
    };
    let found = app.store.share_server(id).await?.map(|s| s.row).filter(|s| s.backend == backend.host);
    let found = found.ok_or_else(|| refusal::invalid_input(format!("Share server {id:.64} was not found on {}.", backend.host)))?;
    check_active(Some(&found))?;
    Ok(Some(found))
}

fn check_active(server: Option<&ShareServerRow>) -> Result<()> {
    match server {
        Some(s) if s.status == ServerStatus::Active.as_str() => Ok(()),
        _ => Err(refusal::invalid_input("The share server provided is not active.")),
    }
}

fn row(ctx: &RequestContext, ask: &ManageShare, share_type: &Type, server: Option<&ShareServerRow>) -> NewShare {
    NewShare {
        id: Uuid::new_v4().to_string(),
        instance_id: Uuid::new_v4().to_string(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
        name: ask.name.clone(),
        description: ask.description.clone(),
        size_gib: 0,
        share_proto: ask.protocol.chars().take(255).collect::<String>().to_ascii_uppercase(),
        share_type_id: share_type.row.id.clone(),
        share_network_id: server.map(|s| s.share_network_id.clone()),
        snapshot_id: None,
        is_public: ask.is_public,
        status: ShareStatus::Managing,
        attributes: Attributes::of(|key| share_type.spec(key)),
        mount_point_name: ask.mount_point_name.clone(),
        availability_zone: None,
        created_at: clock::now(),
    }
}

async fn insert(
    app: &Arc<App>,
    ctx: &RequestContext,
    tx: &mut Tx,
    share: &NewShare,
    ask: &ManageShare,
    backend: &BackendRow,
    server: Option<&ShareServerRow>,
) -> Result<Share> {
    let now = clock::now();
    tx.quota_count_in(&quota(&share.project_id, &share.user_id, &share.share_type_id, share.size_gib, 1)).await?;
    tx.share_insert(share).await?;
    tx.share_located(&share.id, &ask.service_host, &backend.availability_zone, now).await?;
    if let Some(server) = server {
        tx.share_server_takes(&server.id, &share.id, now).await?;
    }
    let there = ExportLocation { path: ask.export_path.clone(), admin_only: false, preferred: false, metadata: StringMap::new() };
    tx.share_locations_replace(&share.instance_id, &[there], now).await?;
    let row = tx.share(&share.id).await?.ok_or_else(|| Error::internal("the share just inserted is not there"))?;
    let options: StringMap = ask.options.iter().cloned().collect();
    tx.enqueue(&app.jobs, super::job(app, ctx, &row, "share.manage", json!({ "path": ask.export_path, "options": options }))).await?;
    event(tx, "share.manage.start", &row, &ctx.request_id).await?;
    Ok(Share { row, metadata: Vec::new(), locations: Vec::new() })
}
