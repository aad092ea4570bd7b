//! The ends of an update, each one transaction that holds the network: what the driver said, the server's status, and the
//! network's when this was the last of its servers.

use std::{collections::HashMap, time::Duration};

use super::Ask;
use crate::{
    clock::{self, Micros},
    domain::{share_network::NetworkStatus, share_server::ServerStatus},
    driver::types::{NetworkUpdate, ServerDetails},
    error::Kind,
    jobs::{
        JobContext, JobFault, Outcome, TaskError,
        task::{access_anew, share_moved, share_server_support::details_text, tried::settled},
    },
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    store::{
        StoreResult, Tx,
        sql::{share_servers::ShareServerRow, shares::ShareRow},
    },
};

/// The server has the subnet. It goes on to the next one, or is whole.
pub async fn done(
    cx: &JobContext,
    server: &ShareServerRow,
    subnet_id: &str,
    mut ask: Ask,
    update: NetworkUpdate,
) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = begin(cx, &ask).await?;
    details(&mut tx, server, &update.details, now).await?;
    let shares = tx.shares_on_server(&server.id).await?;
    // held before anything counts elsewhere, in one order
    let mut moved: Vec<&str> =
        shares.iter().filter(|s| update.shares.iter().any(|c| c.id == s.instance_id && c.pool.is_some())).map(|s| s.id.as_str()).collect();
    moved.sort_unstable();
    for id in moved {
        tx.share_locked(id).await?;
    }
    let shares: HashMap<&str, &ShareRow> = shares.iter().map(|s| (s.instance_id.as_str(), s)).collect();
    for change in &update.shares {
        // deleted meanwhile: its locations went with it
        let Some(share) = shares.get(change.id.as_str()) else { continue };
        tx.share_locations_replace(&share.instance_id, &change.locations, now).await?;
        if let Some(pool) = share_moved::follow(&mut tx, share, change.pool.as_deref()).await? {
            tx.share_found(&share.id, None, None, Some(&pool), now).await?;
        }
    }
    for change in &update.snapshots {
        if tx.snapshot_instance_data(&change.id, change.provider_data.as_deref(), now).await? {
            tx.snapshot_locations_replace(&change.id, &change.locations, now).await?;
        }
    }
    tx.share_server_subnet_applied(&server.id, subnet_id).await?;
    ask.next_subnet();
    if ask.work.subnets.is_empty() {
        return end_whole(cx, tx, server, &ask).await;
    }
    cx.commit_step(tx).await?;
    Ok(ask.again(Duration::ZERO, "the next subnet".to_owned()))
}

/// The server has every subnet that it was promised.
pub async fn whole(cx: &JobContext, server: &ShareServerRow, ask: &Ask) -> Result<Outcome, TaskError> {
    let tx = begin(cx, ask).await?;
    end_whole(cx, tx, server, ask).await
}

async fn end_whole(cx: &JobContext, mut tx: Tx, server: &ShareServerRow, ask: &Ask) -> Result<Outcome, TaskError> {
    let now = clock::now();
    tx.share_server_status(&server.id, &[ServerStatus::NetworkChange], ServerStatus::Active, now).await?;
    if ask.work.again {
        for share in tx.shares_on_server(&server.id).await? {
            tx.share_rules_retry(&share.id, now).await?;
            tx.share_rules_status(&share.id, now).await?;
            // also those that wait to go: nobody has told the driver of them meanwhile
            if !tx.share_rules(&share.id).await?.is_empty() {
                tx.enqueue(&cx.app.jobs, access_anew::of_share(cx, &share)).await?;
            }
        }
    }
    release_network(&mut tx, ask, now).await?;
    settled(cx, tx).await
}

/// Server and rules are in error; the network goes on.
pub async fn failed(
    cx: &JobContext,
    server: &ShareServerRow,
    ask: &Ask,
    (detail, text): (ShareDetail, &str),
    why: &str,
) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = begin(cx, ask).await?;
    if let Some(partial) = &ask.partial {
        details(&mut tx, server, partial, now).await?;
    }
    if tx.share_server_status(&server.id, &[ServerStatus::NetworkChange], ServerStatus::Error, now).await? {
        tx.server_rules_failed(&server.id, now).await?;
        for share in tx.shares_on_server(&server.id).await? {
            tx.share_rules_status(&share.id, now).await?;
        }
        tx.add_share_message(&NewShareMessage {
            resource: ShareResource::ShareNetworkSubnet,
            resource_id: ask.work.subnets.first().cloned().unwrap_or_default(),
            project_id: server.project_id.clone(),
            request_id: cx.job.request_id.clone(),
            action: ShareAction::AddSubnet,
            detail,
            extra: text.to_owned(),
        })
        .await?;
    }
    release_network(&mut tx, ask, now).await?;
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}

/// Somebody else decides about the server, or it is gone.
pub async fn left_alone(cx: &JobContext, ask: &Ask) -> Result<Outcome, TaskError> {
    let mut tx = begin(cx, ask).await?;
    release_network(&mut tx, ask, clock::now()).await?;
    settled(cx, tx).await
}

/// Holds the network, if it is still there: its servers end one after the other, so that the last one sees that it is.
async fn begin(cx: &JobContext, ask: &Ask) -> StoreResult<Tx> {
    let mut tx = cx.app.store.begin().await?;
    tx.share_network_locked(&ask.network_id).await?;
    Ok(tx)
}

/// network_change -> active, once no server of the network is being changed.
async fn release_network(tx: &mut Tx, ask: &Ask, now: Micros) -> StoreResult<()> {
    if tx.network_servers_in_change(&ask.network_id).await? == 0 {
        tx.share_network_status(&ask.network_id, &[NetworkStatus::NetworkChange], NetworkStatus::Active, now).await?;
    }
    Ok(())
}

async fn details(tx: &mut Tx, server: &ShareServerRow, details: &ServerDetails, now: Micros) -> StoreResult<()> {
    tx.share_server_details(&server.id, &details_text(details)?, now).await?;
    Ok(())
}
