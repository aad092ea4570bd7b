//! What the tasks of share servers have in common: the driver's picture of a server, its networks and its security services.

use super::cleanup;
use crate::{
    clock,
    domain::{share_network::SecurityServiceKind, share_server::ServerStatus},
    driver::{
        Call, DriverResult, ErrorKind,
        types::{self, AddressCounts, Allocation, NetworkInfo, SecurityService, ServerDetails},
    },
    jobs::{JobContext, NewJob, TaskError},
    network::{NetworkError, Place, Segment, SubnetIds, Want},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    service::{page::to_tombstone, share_network_subnet::driver_subnet},
    store::{
        StoreError, StoreResult, Tx,
        sql::{
            network_allocations::AllocationRow,
            security_services::SecurityServiceRow,
            share_network_subnets::SubnetRow,
            share_servers::{ServerSort, ShareServerRow},
            tombstones::Tombstone,
        },
    },
};

/// The server that a job is about, while it has this status: then the job still has something to do.
pub async fn in_status(cx: &JobContext, status: ServerStatus) -> StoreResult<Option<ShareServerRow>> {
    let found = cx.app.store.share_server(&cx.job.resource_id).await?;
    Ok(found.map(|s| s.row).filter(|s| s.status == status.as_str()))
}

/// What the array calls a server, where its driver says so.
pub fn identifier(details: &ServerDetails) -> Option<&str> {
    details.get("identifier").map(String::as_str).filter(|i| !i.is_empty())
}

/// A job about a server that another job begins. Jobs of one server run one at a time.
pub fn job(cx: &JobContext, kind: &'static str, id: &str, backend: &str, payload: serde_json::Value) -> NewJob {
    NewJob {
        kind,
        resource_kind: "share_server",
        order_key: id.to_owned(),
        resource_id: id.to_owned(),
        backend: Some(backend.to_owned()),
        payload,
        max_age: cx.app.config.get().jobs.max_age,
        request_id: cx.job.request_id.clone(),
        project_id: cx.job.project_id.clone(),
        user_id: cx.job.user_id.clone(),
    }
}

/// A server as its driver is told of it.
pub fn driver_server(server: &ShareServerRow) -> StoreResult<types::ShareServer> {
    Ok(types::ShareServer { id: server.id.clone(), details: server.details()?.into_iter().collect() })
}

/// The same, by id. None: it is gone.
pub async fn driver_server_of(cx: &JobContext, id: Option<&str>) -> StoreResult<Option<types::ShareServer>> {
    let Some(id) = id else { return Ok(None) };
    cx.app.store.share_server(id).await?.map(|s| driver_server(&s.row)).transpose()
}

/// The subnets of a server with its addresses in each, the oldest subnet first.
pub async fn networks(cx: &JobContext, server: &ShareServerRow) -> StoreResult<Vec<NetworkInfo>> {
    let subnets = cx.app.store.subnets_of_server(&server.id).await?;
    let allocations = cx.app.store.network_allocations_of(&server.id).await?;
    let services = security_services(cx, &server.share_network_id).await?;
    let of =
        |subnet: Option<&str>| allocations.iter().filter(|a| a.subnet_id.as_deref() == subnet).map(driver_allocation).collect::<Vec<_>>();
    Ok(subnets
        .iter()
        .map(|subnet| NetworkInfo {
            subnet: driver_subnet(subnet),
            allocations: of(Some(&subnet.id)),
            admin_allocations: of(None),
            security_services: services.clone(),
        })
        .collect())
}

/// The security services of a network, as a driver is told of them.
pub async fn security_services(cx: &JobContext, network_id: &str) -> StoreResult<Vec<SecurityService>> {
    Ok(cx.app.store.security_services_of(network_id).await?.into_iter().filter_map(driver_service).collect())
}

/// The driver's details as they are kept.
pub fn details_text(details: &ServerDetails) -> StoreResult<String> {
    serde_json::to_string(details).map_err(|e| StoreError::Corrupt(format!("share_servers.details: {e}")))
}

/// The driver's teardown of whatever it holds under the server's id. What is gone is taken down.
/// `details` are none when set-up never answered.
pub async fn take_down(cx: &JobContext, backend: &str, id: &str, details: Option<&ServerDetails>, call: &Call) -> DriverResult<()> {
    let services = services_of_server(cx, id).await;
    let backend = cx.app.drivers.backend(backend)?;
    match backend.need_share_servers()?.teardown(call, id, details, &services).await {
        Err(e) if e.kind != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Those of its network, as far as they are known: a server is taken down without them, too.
async fn services_of_server(cx: &JobContext, id: &str) -> Vec<SecurityService> {
    match cx.app.store.share_server(id).await {
        Ok(Some(server)) => security_services(cx, &server.row.share_network_id).await.unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Every address of a server is given back, in the caller's transaction.
pub async fn give_back(cx: &JobContext, tx: &mut Tx, server_id: &str) -> Result<(), TaskError> {
    let given = tx.network_allocations_of(server_id).await?;
    cx.app.network.release(tx, &given).await.map_err(|e| match e {
        NetworkError::Store(e) => e.into(),
        e => TaskError::Other(e.to_string()),
    })
}

/// Writes what the network plug-in answered about a server's addresses, with the segments of its subnets. All or nothing.
pub async fn addressed(
    cx: &JobContext,
    mut tx: Tx,
    subnets: &[SubnetRow],
    answer: Result<Vec<Segment>, NetworkError>,
) -> Result<Result<(), NetworkError>, TaskError> {
    match answer {
        Ok(segments) => {
            let now = clock::now();
            for (subnet, segment) in subnets.iter().zip(&segments) {
                tx.subnet_found(&subnet.id, segment, now).await?;
            }
            cx.commit_step(tx).await?;
            Ok(Ok(()))
        }
        Err(NetworkError::Store(e)) => Err(e.into()),
        Err(e) => {
            tx.rollback().await?;
            Ok(Err(e))
        }
    }
}

/// The rows of a server go, with its addresses and its clean-ups, in a transaction that holds its network; while it has this
/// status. False: it has another, or is gone.
pub async fn forget(cx: &JobContext, tx: &mut Tx, server: &ShareServerRow, status: ServerStatus) -> Result<bool, TaskError> {
    let still = tx.share_server_locked(&server.id).await?.is_some_and(|s| s.status == status.as_str());
    if still {
        give_back(cx, tx, &server.id).await?;
        tx.share_server_remove(&server.id).await?;
        tx.tombstone(&tombstone(server, &cx.job.request_id)).await?;
        tx.share_network_reap(&server.share_network_id).await?;
        cleanup::withdraw(tx, &server.backend, &server.id).await?;
    }
    Ok(still)
}

fn tombstone(server: &ShareServerRow, request_id: &str) -> Tombstone {
    Tombstone {
        kind: "share_server",
        id: server.id.clone(),
        project_id: server.project_id.clone(),
        sort_keys: to_tombstone::<ServerSort>(server),
        host: server.backend.clone(),
        request_id: request_id.to_owned(),
        ..Tombstone::default()
    }
}

/// A message for the operator who asked.
pub async fn tell(
    tx: &mut Tx,
    cx: &JobContext,
    server: &ShareServerRow,
    action: ShareAction,
    detail: ShareDetail,
    extra: &str,
) -> StoreResult<()> {
    tx.add_share_message(&NewShareMessage {
        resource: ShareResource::ShareServer,
        resource_id: server.id.clone(),
        project_id: cx.job.project_id.clone(),
        request_id: cx.job.request_id.clone(),
        action,
        detail,
        extra: extra.to_owned(),
    })
    .await?;
    Ok(())
}

/// The places of a server's subnets, with as many addresses as are wanted in each; and that in the operator's network.
pub fn wants(subnets: &[SubnetRow], counts: AddressCounts) -> Vec<Want> {
    let mut wants: Vec<Want> = subnets
        .iter()
        .map(|s| {
            let ids = SubnetIds { neutron_net_id: s.neutron_net_id.clone(), neutron_subnet_id: s.neutron_subnet_id.clone() };
            Want { place: Place::Subnet { id: s.id.clone(), ids }, count: counts.per_subnet }
        })
        .collect();
    if counts.admin > 0 {
        wants.push(Want { place: Place::Admin, count: counts.admin });
    }
    wants
}

fn driver_allocation(a: &AllocationRow) -> Allocation {
    Allocation { id: a.id.clone(), ip_address: a.ip_address.clone(), mac_address: a.mac_address.clone(), label: a.label.clone() }
}

fn driver_service(s: SecurityServiceRow) -> Option<SecurityService> {
    let kind = match SecurityServiceKind::parse(&s.kind)? {
        SecurityServiceKind::Ldap => types::SecurityServiceKind::Ldap,
        SecurityServiceKind::Kerberos => types::SecurityServiceKind::Kerberos,
        SecurityServiceKind::ActiveDirectory => types::SecurityServiceKind::ActiveDirectory,
    };
    Some(SecurityService {
        id: s.id,
        kind,
        name: s.name.unwrap_or_default(),
        dns_ip: s.dns_ip,
        server: s.server,
        domain: s.domain,
        user: s.user_name,
        password: s.password,
        ou: s.ou,
        default_ad_site: s.default_ad_site,
    })
}
