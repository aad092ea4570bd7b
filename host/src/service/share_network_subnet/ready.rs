//! What must be so before live share servers are given another subnet: when their drivers are asked, and again when the work
//! begins.

use std::collections::HashMap;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        share::{RulesStatus, ShareStatus, TRANSITIONAL, is_busy},
        share_server::{self, ServerStatus},
    },
    driver::catalog::BackendState,
    error::{Error, Kind, Remedy, Result},
    store::{
        Tx,
        sql::{backends::BackendKind, share_networks::ShareNetworkRow, share_servers::ShareServerRow},
    },
};

/// A server that can be given a subnet, and which incarnation of its back end says so.
#[derive(Debug, Clone)]
pub struct Ready {
    pub server: ShareServerRow,
    pub incarnation: String,
}

/// Which back ends of shares are out of service, and why. Read before the transaction that decides.
#[derive(Debug)]
pub struct Down(HashMap<String, Option<String>>);

impl Down {
    pub async fn read(app: &App) -> Result<Self> {
        let now = clock::now();
        let rows = app.store.backends(Some(BackendKind::Share)).await?;
        let mut states: HashMap<String, Option<String>> = rows.into_iter().map(|r| (r.host.clone(), r.state(now).err())).collect();
        for here in app.drivers.backend_status() {
            if here.state == BackendState::Quarantined {
                states.insert(here.host, Some("its driver failed too often and is being left alone".to_owned()));
            }
        }
        Ok(Self(states))
    }

    fn why(&self, host: &str) -> Option<String> {
        match self.0.get(host) {
            Some(state) => state.clone(),
            None => Some("it is not in the configuration".to_owned()),
        }
    }
}

/// The servers of the network, which the caller holds, if each of them could be asked for another subnet and nothing is under
/// way on the network.
///
/// # Errors
/// 409 when a server or its driver has no such operation, 503 when a back end is down, 400 naming what is not at rest.
pub async fn ready(app: &App, ctx: &RequestContext, tx: &mut Tx, down: &Down, network: &ShareNetworkRow) -> Result<Vec<Ready>> {
    let servers = tx.built_servers_of(&network.id).await?;
    if servers.iter().any(|s| !s.network_allocation_update_support) {
        return Err(cannot(network));
    }
    let mut ready = Vec::with_capacity(servers.len());
    for server in servers {
        if let Some(why) = down.why(&server.backend) {
            return Err(unavailable(ctx, network, &server.backend, &why));
        }
        let backend = app.drivers.backend(&server.backend).map_err(|e| unavailable(ctx, network, &server.backend, &e.message))?;
        if backend.allocations().is_none() {
            return Err(cannot(network));
        }
        ready.push(Ready { incarnation: backend.incarnation(), server });
    }
    at_rest(tx, network, &ready).await?;
    Ok(ready)
}

/// Some server of the network is what it was built as.
pub fn cannot(network: &ShareNetworkRow) -> Error {
    Error::conflict(format!(
        "The share network {} has share servers that cannot be given another subnet. See the capability 'network_allocation_update_support'.",
        network.id
    ))
}

/// Only an operator reads which back end it is.
fn unavailable(ctx: &RequestContext, network: &ShareNetworkRow, host: &str, why: &str) -> Error {
    let mut text = format!("The share network {} cannot be changed now: a storage back end of its share servers is down.", network.id);
    if ctx.is_admin() {
        text = format!("{text} {host}: {why}.");
    }
    Error::new(Kind::Unavailable, text).with_remedy(Remedy::Operator)
}

/// What ends that which is not at rest.
enum Ends {
    ByItself,
    /// Somebody must: who, and what.
    By(Remedy, &'static str),
}

async fn at_rest(tx: &mut Tx, network: &ShareNetworkRow, servers: &[Ready]) -> Result<()> {
    let id = network.id.as_str();
    let refuse = |what: String, ends: Ends| {
        let (who, next) = match ends {
            Ends::ByItself => (Remedy::User, "Try again when that has ended."),
            Ends::By(who, next) => (who, next),
        };
        Err(Error::invalid(format!("The share network {id} cannot be given another subnet now: {what}. {next}")).with_remedy(who))
    };
    if let Some(Ready { server, .. }) = servers.iter().find(|r| r.server.status != ServerStatus::Active.as_str()) {
        let passes = ServerStatus::parse(&server.status).is_some_and(|s| share_server::TRANSITIONAL.contains(&s));
        let ends = if passes { Ends::ByItself } else { Ends::By(Remedy::Operator, "Your administrator has to heal or delete it first.") };
        return refuse(format!("share server {} has the status {}", server.id, server.status), ends);
    }
    if let Some((share, status)) = tx.network_share_not_available(id).await? {
        let passes = ShareStatus::parse(&status).is_some_and(|s| TRANSITIONAL.contains(&s));
        let ends = if passes { Ends::ByItself } else { Ends::By(Remedy::User, "Delete it, or have your administrator reset it, first.") };
        return refuse(format!("share {share} has the status {status}"), ends);
    }
    let tasks = tx.network_share_tasks(id).await?;
    if let Some((share, task)) = tasks.iter().find(|(_, task)| is_busy(Some(task))) {
        return refuse(format!("share {share} has the task {task}"), Ends::ByItself);
    }
    if let Some((share, rules)) = tx.network_rules_not_active(id).await? {
        let failed = rules == RulesStatus::Error.as_str();
        let ends = if failed { Ends::By(Remedy::User, "Remove the rules that are in error first.") } else { Ends::ByItself };
        return refuse(format!("the access rules of share {share} have the status {rules}"), ends);
    }
    if let Some((snapshot, status)) = tx.network_snapshot_in_work(id).await? {
        return refuse(format!("snapshot {snapshot} has the status {status}"), Ends::ByItself);
    }
    if let Some(share) = tx.network_share_in_work(id).await? {
        return refuse(format!("something works on share {share}"), Ends::ByItself);
    }
    Ok(())
}
