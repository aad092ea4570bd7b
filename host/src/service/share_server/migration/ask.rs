//! What is asked for, as far as it can be known before anything is held; and the question to the destination's driver.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use uuid::Uuid;

use super::{CHECK_KIND, MigrateServer, Question};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    driver::types::{MigrationCheck, MigrationRequest},
    error::{Error, Kind, Result},
    jobs::NewJob,
    service::{share_network::check_active, share_network_subnet::driver_subnet},
    store::sql::{
        backends::{BackendKind, BackendRow},
        share_network_subnets::SubnetRow,
        share_networks::ShareNetworkRow,
        share_servers::ShareServerRow,
    },
};

/// A server, and where it is to go.
pub struct Asked {
    pub source: ShareServerRow,
    pub backend: BackendRow,
    pub network: ShareNetworkRow,
}

/// The server first, then the network, then the host: who names several that are not there is told of the first.
///
/// # Errors
/// 403, 404 also for a host that is not there, 400 for a network that is not there or is being worked on, a pool, and a back end
/// that is down.
pub async fn of(app: &App, ctx: &RequestContext, id: &str, ask: &MigrateServer, action: &str) -> Result<Asked> {
    let source = super::super::load_for(app, ctx, id, action).await?.row;
    let network_id = ask.new_share_network_id.as_deref().unwrap_or(&source.share_network_id);
    let network = app.store.share_network(network_id).await?;
    let network = network.ok_or_else(|| Error::invalid(format!("Share network {network_id:.255} not found.")))?;
    check_active(&network)?;
    if ask.host.contains('#') {
        return Err(Error::invalid("The destination host can not contain pool information."));
    }
    let backend = app.store.backend(&ask.host).await?.filter(|b| b.kind == BackendKind::Share);
    let backend = backend.ok_or_else(|| Error::not_found(format!("Host {:.255} could not be found.", ask.host)))?;
    backend.state(clock::now()).map_err(|why| Error::invalid(format!("Service {} is down: {why}.", backend.host)))?;
    Ok(Asked { source, backend, network })
}

/// What the driver is asked for. Snapshots that are there are lost unless they are preserved.
pub fn request(ask: &MigrateServer, has_snapshots: bool) -> MigrationRequest {
    MigrationRequest { writable: ask.writable, preserve_snapshots: ask.preserve_snapshots || has_snapshots }
}

/// What the destination's driver says, in a job of its own: no driver is called outside of its back end's lane.
///
/// # Errors
/// 503 when it cannot say, 504 when it does not in time.
pub async fn driver(
    app: &Arc<App>,
    ctx: &RequestContext,
    asked: &Asked,
    subnets: &[SubnetRow],
    request: MigrationRequest,
) -> Result<MigrationCheck> {
    let question = Question { backend: asked.backend.host.clone(), subnets: subnets.iter().map(driver_subnet).collect(), request };
    let left = Duration::from_micros(u64::try_from(ctx.deadline - clock::now()).unwrap_or(0));
    let patience = app.config.get().jobs.wait.min(left.saturating_sub(Duration::from_millis(250)));
    let job = NewJob {
        // it changes nothing, and waits for nobody
        order_key: Uuid::new_v4().to_string(),
        backend: Some(asked.backend.host.clone()),
        max_age: patience,
        ..super::super::job(app, ctx, CHECK_KIND, &asked.source, json!(question))
    };
    let mut tx = app.store.begin().await?;
    let id = tx.enqueue(&app.jobs, job).await?;
    tx.commit().await?;
    match app.jobs.wait(&id, patience).await {
        Ok(Ok(said)) => serde_json::from_value(said).map_err(Error::internal),
        Ok(Err(fault)) => Err(fault.into()),
        Err(_) => {
            Err(Error::new(Kind::Timeout, "The driver of the destination has not said in time whether the share server can move there."))
        }
    }
}
