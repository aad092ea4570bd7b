//! `POST /share-servers/manage`: a share server that somebody else made becomes one of ours. Its row comes at once, in
//! `manage_starting`; a job has the driver take it over, and it ends active, or in `manage_error` with a message.
//!
//! It is never torn down by itself: it may hold what nobody knows of.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::job;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_server::{ServerStatus, may_be_same},
    driver::{capability::ShareServerMode, types::StringMap},
    error::{Error, Result},
    policy::Target,
    service::{share_network::check_active, share_refusal},
    store::{
        Tx,
        sql::{
            backends::{BackendKind, BackendRow},
            share_network_subnets::SubnetRow,
            share_servers::{NewShareServer, ShareServer},
        },
    },
};

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct ManageServer {
    /// `host@backend`.
    pub host: String,
    pub share_network_id: String,
    /// None: the network's default one.
    pub subnet_id: Option<String>,
    /// What the array calls it.
    pub identifier: String,
    /// For the driver.
    pub options: Vec<(String, String)>,
}

/// # Errors
/// 400 also for a back end or a network that is not there, a back end that is down, builds no servers or takes none over, and a
/// server that is ours already; 403.
pub async fn manage(app: &Arc<App>, ctx: &RequestContext, ask: ManageServer) -> Result<ShareServer> {
    // authorise
    app.policy.check(ctx, "share_server:manage_share_server", &Target::own(ctx))?;
    // validate
    let backend = backend(app, &ask.host).await?;
    check_takes_over(app, &backend.host)?;
    // decide and commit
    let mut tx = app.store.begin().await?;
    // until this transaction ends: the network stays, and no subnet comes to it
    let network = tx.share_network_locked(&ask.share_network_id).await?;
    let network = network.ok_or_else(|| Error::invalid(format!("Share network {:.255} could not be found.", ask.share_network_id)))?;
    let subnet = subnet(tx.subnets(&network.id).await?, &ask)?;
    check_active(&network)?;
    // of two who want the same server one comes first
    tx.ensure_turn(&backend.host).await?;
    check_unknown(&mut tx, &ask.identifier).await?;
    let server = NewShareServer {
        id: Uuid::new_v4().to_string(),
        share_network_id: network.id.clone(),
        project_id: network.project_id.clone(),
        backend: backend.host.clone(),
        status: ServerStatus::Managing,
        is_auto_deletable: false,
        // as the driver says, when it is taken over
        network_allocation_update_support: false,
        security_service_update_support: false,
        subnet_ids: vec![subnet.id],
        source_share_server_id: None,
        created_at: clock::now(),
    };
    tx.share_server_insert(&server).await?;
    tx.share_server_known_as(&server.id, &ask.identifier).await?;
    let row = tx.share_server_locked(&server.id).await?.ok_or_else(|| Error::internal("the server just inserted is not there"))?;
    let options: StringMap = ask.options.into_iter().collect();
    tx.enqueue(&app.jobs, job(app, ctx, "share_server.manage", &row, json!({ "options": options }))).await?;
    tx.commit().await?;
    Ok(ShareServer { row, subnet_ids: server.subnet_ids })
}

async fn backend(app: &App, host: &str) -> Result<BackendRow> {
    if host.contains('#') {
        return Err(Error::invalid("Host parameter should not contain pool."));
    }
    let row = app.store.backend(host).await?.filter(|b| b.kind == BackendKind::Share);
    let row = row.ok_or_else(|| Error::invalid(format!("Service {host:.255} could not be found.")))?;
    row.state(clock::now()).map_err(|why| Error::invalid(format!("Service {} is down: {why}.", row.host)))?;
    Ok(row)
}

/// As far as this process knows the driver; where it does not, the job finds out.
fn check_takes_over(app: &App, host: &str) -> Result<()> {
    let Ok(backend) = app.drivers.backend(host) else { return Ok(()) };
    if backend.capabilities().is_some_and(|timed| timed.report.features.share_server_mode == ShareServerMode::WithoutServers) {
        return Err(Error::invalid(format!("Cannot manage share servers on {host}: it has driver_handles_share_servers set to False.")));
    }
    check_exports(app, host)
}

/// The back end's driver has the interface.
pub(super) fn check_exports(app: &App, host: &str) -> Result<()> {
    match app.drivers.backend(host) {
        Ok(backend) if backend.share_server_manage().is_none() => Err(Error::invalid(format!(
            "The driver of {host} takes no share servers over and lets go of none: it does not export share-server-manage."
        ))),
        _ => Ok(()),
    }
}

/// The one subnet of the network that the server is on: the one that is named, or the default one, if no other serves its zone.
fn subnet(subnets: Vec<SubnetRow>, ask: &ManageServer) -> Result<SubnetRow> {
    let zone = match ask.subnet_id.as_deref() {
        None => None,
        Some(id) => match subnets.iter().find(|s| s.id == id) {
            Some(named) => named.availability_zone.clone(),
            None => return Err(Error::invalid(format!("The share network subnet {id:.255} does not exist."))),
        },
    };
    let mut serving: Vec<SubnetRow> = subnets.into_iter().filter(|s| s.availability_zone == zone).collect();
    match (serving.pop(), serving.is_empty()) {
        (Some(subnet), true) => Ok(subnet),
        (Some(subnet), false) => Err(Error::invalid(format!(
            "Cannot manage the share server, since the share network subnet {} has multiple subnets in its availability zone and share network.",
            ask.subnet_id.as_deref().unwrap_or(&subnet.id)
        ))),
        (None, _) => Err(Error::invalid(format!(
            "The share network {:.255} does not have a default subnet. Create one or use a specific subnet to manage this share server with API version >= 2.51.",
            ask.share_network_id
        ))),
    }
}

/// None of ours may be this one.
async fn check_unknown(tx: &mut Tx, identifier: &str) -> Result<()> {
    let all = tx.share_server_identifiers().await?;
    match all.iter().find(|(_, known)| may_be_same(identifier, known)) {
        Some((id, known)) => Err(share_refusal::invalid_input(format!(
            "Identifier {identifier:.255} specified matches existing share server {id} ({known:.255})."
        ))),
        None => Ok(()),
    }
}
