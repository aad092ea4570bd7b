//! `stowage manage`: what an operator does with the database, service running or not (on SQLite: not). What changes shares and
//! their servers asks the running service.

mod ensure;
mod quota_check;
mod reset_admin_password;
mod service;
mod share_server;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Subcommand;
use stowage::{
    config::{Config, database_shown},
    store::{Store, StoreError},
};

use super::{SourceArgs, line};

#[derive(Subcommand)]
pub enum Manage {
    /// Quota usage.
    #[command(subcommand)]
    Quota(Quota),
    /// Share servers.
    #[command(subcommand)]
    ShareServer(ShareServer),
    /// Have a back end's driver compare its shares with what it finds. Asks the running service.
    Ensure(ensure::Ensure),
    /// Give the built-in identity's user `admin` a new random password, written to a new clouds.yaml. Ends its tokens.
    ResetAdminPassword {
        /// Where to write it. Without: clouds.yaml in the state folder.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
pub enum Quota {
    /// Recompute every usage from the rows it counts and list the differences (there are none). Exit status 1 if there are.
    Check,
}

#[derive(Subcommand)]
pub enum ShareServer {
    /// Say what existing share servers can do, when their driver has learnt it since they were built.
    SetCapability {
        /// One or more ids.
        #[arg(long = "share-server", value_name = "ID", num_args = 1.., required = true)]
        ids: Vec<String>,
        #[arg(long)]
        capability: share_server::Capability,
        #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
        value: bool,
    },
    /// Give a server in error the subnets again that an update of it failed on, with the same addresses. Asks the running service.
    RetryNetworkUpdate {
        id: String,
        #[command(flatten)]
        login: service::Login,
    },
}

pub async fn manage(args: &SourceArgs, command: Manage) -> Result<bool> {
    let (config, _) = args.load()?;
    match command {
        Manage::Quota(Quota::Check) => quota_check::quota_check(&config).await,
        Manage::ShareServer(ShareServer::SetCapability { ids, capability, value }) => {
            share_server::set_capability(&config, ids, capability, value).await.map(|()| true)
        }
        Manage::ShareServer(ShareServer::RetryNetworkUpdate { id, login }) => {
            share_server::retry_network_update(&config, &id, &login).await.map(|()| true)
        }
        Manage::Ensure(ask) => ensure::ensure(&config, &ask).await,
        Manage::ResetAdminPassword { file } => reset_admin_password::reset(&config, file).await.map(|()| true),
    }
}

/// The database as it is: none is made, and none is migrated.
async fn open(config: &Config) -> Result<Store> {
    let url = config.database_url();
    let shown = database_shown(&url);
    if let Some(path) = url.strip_prefix("sqlite:")
        && !Path::new(path.trim_start_matches("//")).exists()
    {
        bail!("there is no database {shown}: is --config or --state-dir the service's?");
    }
    let store = Store::open(&config.database.store_options(url)).await.map_err(|e| match e {
        StoreError::Locked { .. } => {
            anyhow!("{e}: a SQLite database has one process at a time. Stop the service, run this again, and start the service")
        }
        e => e.into(),
    })?;
    store.check_schema().await.with_context(|| format!("{shown} is not as this binary needs it"))?;
    Ok(store)
}
