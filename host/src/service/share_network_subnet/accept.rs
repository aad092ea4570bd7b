//! The one transaction that adds a subnet to a network with live servers: it verifies again what drivers were asked for,
//! and from then on the network and its servers are being changed, each by a job of its own.

use std::sync::Arc;

use super::{
    OfNetwork,
    ask::{holds, place},
    create::{self, zone},
    in_use::check_not_in_change,
    ready::{Down, ready},
};
use crate::{
    app::App,
    clock::{self, Micros},
    context::RequestContext,
    domain::{
        share_network::{NetworkStatus, SubnetVerdict},
        share_server::ServerStatus,
    },
    driver::answer::MAX_ADDRESSES,
    error::{Error, Result},
    network::Want,
    service::{network_refusal as refusal, share_network::check_active, share_server::update_network},
    store::{
        Tx,
        sql::{
            metadata::MetadataOf,
            share_network_subnets::{Subnet, SubnetRow},
            share_servers::ShareServerRow,
            subnet_checks::Question,
        },
    },
};

/// None: what drivers said does not count any more, they have to be asked again.
///
/// # Errors
/// 409 when another change of the network has begun or there are too few addresses, and as [`ready`].
pub async fn accept(app: &Arc<App>, ctx: &RequestContext, subnet: &SubnetRow, metadata: &[(String, String)]) -> Result<Option<OfNetwork>> {
    let network_id = subnet.share_network_id.as_str();
    let down = Down::read(app).await?;
    let mut tx = app.store.begin().await?;
    // held from here on: no share, no rule, no server and no other subnet comes onto it
    let Some(network) = tx.share_network_locked(network_id).await? else { return Err(refusal::network_not_found(network_id)) };
    check_not_in_change(&network)?;
    check_active(&network)?;
    let zone = zone(&mut tx, network_id, subnet.availability_zone.as_deref()).await?;
    if zone.servers.is_empty() {
        // they went meanwhile
        return create::insert(tx, network, subnet.clone(), metadata).await.map(Some);
    }
    let servers = ready(app, ctx, &mut tx, &down, &network).await?;
    let now = clock::now();
    let check = tx.subnet_check(&Question::of(subnet)).await?;
    let agreed = check.filter(|c| holds(c, &servers, now) && c.answers.iter().all(|a| a.verdict() == Some(SubnetVerdict::Possible)));
    let Some(check) = agreed else {
        tx.rollback().await?;
        return Ok(None);
    };
    let subnet = SubnetRow { id: check.row.subnet_id, ..subnet.clone() };
    tx.subnet_insert(&subnet).await?;
    tx.metadata_put(MetadataOf::Subnet, &subnet.id, metadata).await?;
    for server in &zone.servers {
        let addresses = check.answers.iter().find(|a| a.share_server_id == server.id).and_then(|a| a.addresses);
        promise(app, ctx, &mut tx, server, &subnet, addresses.unwrap_or(0), now).await?;
    }
    if !tx.share_network_status(network_id, &[NetworkStatus::Active], NetworkStatus::NetworkChange, now).await? {
        return Err(refusal::in_change(&network));
    }
    // whatever else was asked about this network was asked about another one
    tx.subnet_checks_forget(network_id, Micros::MAX).await?;
    let metadata = tx.metadata(MetadataOf::Subnet, &subnet.id).await?;
    let row = tx.subnets(network_id).await?.into_iter().find(|s| s.id == subnet.id);
    let row = row.ok_or_else(|| Error::internal("the subnet just inserted is not there"))?;
    tx.commit().await?;
    Ok(Some(OfNetwork { network, subnet: Subnet { row, metadata } }))
}

/// The server gets its addresses, and a job that gives it the subnet.
async fn promise(
    app: &Arc<App>,
    ctx: &RequestContext,
    tx: &mut Tx,
    server: &ShareServerRow,
    subnet: &SubnetRow,
    addresses: i64,
    now: Micros,
) -> Result<()> {
    tx.share_server_promised(&server.id, &subnet.id).await?;
    if !tx.share_server_status(&server.id, &[ServerStatus::Active], ServerStatus::NetworkChange, now).await? {
        return Err(Error::conflict(format!("Share server {} has changed meanwhile; try again.", server.id)));
    }
    let want = Want { place: place(subnet), count: u32::try_from(addresses).unwrap_or(0).min(MAX_ADDRESSES) };
    for reserved in app.network.reserve(tx, &server.id, &[want]).await? {
        tx.subnet_found(&subnet.id, &reserved.segment, now).await?;
    }
    let job = update_network::job(app, ctx, server, &update_network::Work { subnets: vec![subnet.id.clone()], again: false });
    tx.enqueue(&app.jobs, job).await?;
    Ok(())
}
