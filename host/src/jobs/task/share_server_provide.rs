//! The share server of a share that is being created: one that is there, or a new one.
//!
//! Whoever decides holds the share network's row, so that shares of one network which are created at once, in whatever
//! processes, find one server. From then on the share is on it, and it is not torn down; a job of the server's own builds it,
//! and the share's job looks again until that has ended. When the server failed, its shares end in error with its reason.

use std::{collections::HashMap, time::Duration};

use serde_json::json;
use uuid::Uuid;

use super::share_server_support as support;
use crate::{
    clock,
    config::UNLIMITED,
    domain::{
        share::{CREATING, is_one_of},
        share_server::ServerStatus,
    },
    driver::{Backend, DriverError},
    jobs::{JobContext, TaskError},
    notify::share_message::ShareDetail,
    scheduler::Limit,
    service::share::network::in_zone,
    store::{
        StoreResult, Tx,
        sql::{
            share_server_work::ServerLoad,
            share_servers::{NewShareServer, ShareServerRow},
            shares::ShareRow,
            types::TypeOf,
        },
    },
};

/// How long a share waits between two looks at a server that is being built: a part of the time that has taken so far.
const LEAST_PAUSE: Duration = Duration::from_millis(100);
const MOST_PAUSE: Duration = Duration::from_secs(5);

/// What looking for a server came to.
pub enum Provided {
    /// The share is on one that is ready, or needs none.
    Ready(Box<ShareRow>),
    /// It is being built, or changed.
    Wait(Duration, String),
    /// There is none, and why; the text is for the user.
    Nowhere(ShareDetail, String),
    /// The back end's driver builds none now.
    Failed(DriverError),
    /// The share is not being created any more.
    Gone,
}

/// The server of a share that was placed on `backend`.
pub async fn provide(cx: &JobContext, share: ShareRow, backend: &str) -> Result<Provided, TaskError> {
    let Some(network_id) = share.share_network_id.clone() else { return Ok(Provided::Ready(Box::new(share))) };
    if let Some(id) = share.share_server_id.clone() {
        return look(cx, share, &id).await;
    }
    let backend = match serving(cx, backend) {
        Ok(backend) => backend,
        Err(e) => return Ok(Provided::Failed(e)),
    };
    choose(cx, &share, &network_id, &backend).await
}

fn serving(cx: &JobContext, backend: &str) -> Result<std::sync::Arc<Backend>, DriverError> {
    let backend = cx.app.drivers.backend(backend)?;
    backend.need_share_servers()?;
    Ok(backend)
}

/// How the server stands that the share is on.
async fn look(cx: &JobContext, share: ShareRow, id: &str) -> Result<Provided, TaskError> {
    let server = cx.app.store.share_server(id).await?.map(|s| s.row);
    let status = server.as_ref().and_then(|s| ServerStatus::parse(&s.status));
    match (status, server) {
        (Some(ServerStatus::Active), _) => Ok(Provided::Ready(Box::new(share))),
        (Some(ServerStatus::Creating), Some(server)) => Ok(wait(&server)),
        (Some(ServerStatus::NetworkChange), _) => Ok(Provided::Wait(MOST_PAUSE, "the share server is being changed".to_owned())),
        _ => {
            let failure = cx.app.store.share_server_failure(id).await?;
            let detail = failure.failed_detail.as_deref().and_then(ShareDetail::of_id).unwrap_or(ShareDetail::NoShareServer);
            Ok(Provided::Nowhere(detail, failure.failed_text.unwrap_or_default()))
        }
    }
}

fn wait(server: &ShareServerRow) -> Provided {
    let age = u64::try_from(clock::now() - server.created_at).unwrap_or(0);
    let pause = Duration::from_micros(age / 4).clamp(LEAST_PAUSE, MOST_PAUSE);
    Provided::Wait(pause, format!("share server {} is being built", server.id))
}

/// Puts the share on a server of its network: one over the same subnets on the same back end, or a new one.
async fn choose(cx: &JobContext, share: &ShareRow, network_id: &str, backend: &Backend) -> Result<Provided, TaskError> {
    // what is read from outside the transaction is read before it begins
    let parents = match share.snapshot_id.as_deref() {
        Some(snapshot) => cx.app.store.share_server_of_snapshot(snapshot).await?,
        None => None,
    };
    let specs = cx.app.store.resource_type(TypeOf::Share, &share.share_type_id).await?.map(|t| t.specs).unwrap_or_default();
    let features = backend.capabilities().map(|timed| timed.report.features.clone()).unwrap_or_default();
    let mut tx = cx.app.store.begin().await?;
    // held from here on: no server is made, torn down or given a subnet
    let Some(network) = tx.share_network_locked(network_id).await? else { return nowhere(tx).await };
    let still = tx.share(&share.id).await?.filter(|s| is_one_of(&s.status, CREATING) && s.host == share.host);
    if still.is_none() {
        tx.rollback().await?;
        return Ok(Provided::Gone);
    }
    let subnets = in_zone(tx.subnets(network_id).await?, share.availability_zone.as_deref());
    if subnets.is_empty() {
        return nowhere(tx).await;
    }
    if subnets.len() > 1 && !features.share_server_multiple_subnet_support {
        // a subnet came after the pool was chosen
        tx.rollback().await?;
        return Ok(Provided::Nowhere(ShareDetail::NoValidHost, Limit::SeveralSubnets.user_text().to_owned()));
    }
    let mut subnet_ids: Vec<String> = subnets.into_iter().map(|s| s.id).collect();
    subnet_ids.sort_unstable();
    let server_id = match compatible(&mut tx, share, network_id, backend, &subnet_ids, parents.as_deref()).await? {
        Found::Server(id) => id,
        Found::Busy => {
            tx.rollback().await?;
            return Ok(Provided::Wait(MOST_PAUSE, "the share server is being changed".to_owned()));
        }
        Found::None => {
            let server = NewShareServer {
                id: Uuid::new_v4().to_string(),
                share_network_id: network.id,
                project_id: network.project_id,
                backend: backend.host.clone(),
                status: ServerStatus::Creating,
                is_auto_deletable: true,
                network_allocation_update_support: features.network_allocation_update_support,
                // drivers have no call for it yet
                security_service_update_support: false,
                subnet_ids,
                source_share_server_id: None,
                created_at: clock::now(),
            };
            tx.share_server_insert(&server).await?;
            let specs: std::collections::BTreeMap<String, String> = specs.into_iter().collect();
            tx.enqueue(&cx.app.jobs, support::job(cx, "share_server.create", &server.id, &server.backend, json!({ "specs": specs })))
                .await?;
            server.id
        }
    };
    tx.share_server_takes(&server_id, &share.id, clock::now()).await?;
    let row = tx.share(&share.id).await?;
    cx.commit_step(tx).await?;
    match row {
        Some(row) => look(cx, row, &server_id).await,
        None => Ok(Provided::Gone),
    }
}

async fn nowhere(tx: Tx) -> Result<Provided, TaskError> {
    tx.rollback().await?;
    Ok(Provided::Nowhere(ShareDetail::NoShareServer, String::new()))
}

enum Found {
    Server(String),
    /// One that would do is being changed.
    Busy,
    None,
}

/// A server that would do: that of the share it is made from, whatever its limits, for its snapshot is nowhere else; else the
/// oldest that is ready and has room, else one in work.
async fn compatible(
    tx: &mut Tx,
    share: &ShareRow,
    network_id: &str,
    backend: &Backend,
    subnet_ids: &[String],
    parents: Option<&str>,
) -> StoreResult<Found> {
    let mut on = tx.share_server_subnet_ids(network_id).await?;
    let limited = backend.config.max_shares_per_share_server != UNLIMITED || backend.config.max_share_server_size != UNLIMITED;
    let loads = if limited { tx.share_server_loads(network_id).await? } else { HashMap::new() };
    let mut fit = Vec::new();
    for server in tx.built_servers_of(network_id).await?.into_iter().filter(|s| s.backend == backend.host) {
        let is_parent = parents == Some(server.id.as_str());
        if is_parent && server.status == ServerStatus::ServerMigrating.as_str() {
            // its snapshot is nowhere else, and goes where it goes
            return Ok(Found::Busy);
        }
        let parent = is_parent && server.status == ServerStatus::Active.as_str();
        let load = loads.get(&server.id).copied().unwrap_or_default();
        // ids of subnets come in the order of the database, which may not be ours
        let mut subnets = on.remove(&server.id).unwrap_or_default();
        subnets.sort_unstable();
        if subnets == subnet_ids && (parent || has_room(share, backend, load)) {
            fit.push(server);
        }
    }
    fit.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    let first = |status: ServerStatus| fit.iter().find(|s| s.status == status.as_str());
    let own = fit.iter().find(|s| Some(s.id.as_str()) == parents && s.status == ServerStatus::Active.as_str());
    if let Some(server) = own.or_else(|| first(ServerStatus::Active)).or_else(|| first(ServerStatus::Creating)) {
        return Ok(Found::Server(server.id.clone()));
    }
    Ok(if first(ServerStatus::NetworkChange).is_some() { Found::Busy } else { Found::None })
}

/// The server may take the share, as far as the operator limits it. An empty one takes any.
fn has_room(share: &ShareRow, backend: &Backend, load: ServerLoad) -> bool {
    let (most_shares, most_gib) = (backend.config.max_shares_per_share_server, backend.config.max_share_server_size);
    let shares = most_shares == UNLIMITED || load.shares < most_shares;
    let gib = most_gib == UNLIMITED || load.gib.saturating_add(share.size_gib) <= most_gib;
    load.shares == 0 || (shares && gib)
}
