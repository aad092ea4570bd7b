//! `stowage manage share-server`.
//!
//! `set-capability`: what existing share servers can do, when their driver has learnt it since.
//!
//! A server keeps what its driver could when it was built; only an operator, who knows how the servers there were built,
//! changes that. All servers named, or none.

use anyhow::{Result, bail};
use clap::ValueEnum;
use reqwest::Method;
use stowage::{clock, config::Config};

use super::{line, service};

/// What servers can be said to do.
#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Capability {
    /// A live server can be given more subnets.
    NetworkAllocationUpdateSupport,
}

pub async fn set_capability(config: &Config, ids: Vec<String>, capability: Capability, value: bool) -> Result<()> {
    let store = super::open(config).await?;
    let ids = std::collections::BTreeSet::from_iter(ids);
    let mut missing = Vec::new();
    for id in &ids {
        if store.share_server(id).await?.is_none() {
            missing.push(id.as_str());
        }
    }
    if !missing.is_empty() {
        bail!("there is no share server {}; nothing was changed", missing.join(", "));
    }
    let ids: Vec<String> = ids.into_iter().collect();
    let mut tx = store.begin().await?;
    let changed = match capability {
        Capability::NetworkAllocationUpdateSupport => tx.share_servers_can_update_allocations(&ids, value, clock::now()).await?,
    };
    tx.commit().await?;
    store.close().await;
    line(format_args!("{changed} share servers changed"));
    Ok(())
}

pub async fn retry_network_update(config: &Config, id: &str, login: &service::Login) -> Result<()> {
    let session = service::Session::open(config, login).await?;
    session.ask(session.admin(Method::POST, &format!("/share-servers/{id}/retry-network-update"))).await?;
    line(format_args!("share server {id} is being given its subnets again"));
    Ok(())
}
