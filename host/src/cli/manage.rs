//! `stowage manage`: what an operator does with the database, service running or not (on SQLite: not).

use anyhow::Result;
use clap::Subcommand;
use stowage::store::{Store, sql::quota_count::is_counted};

use super::{SourceArgs, line};

#[derive(Subcommand)]
pub enum Manage {
    /// Quota usage.
    #[command(subcommand)]
    Quota(Quota),
}

#[derive(Subcommand)]
pub enum Quota {
    /// Recompute every usage from the rows it counts and list the differences (there are none). Exit status 1 if there are.
    Check,
}

pub async fn manage(args: &SourceArgs, command: Manage) -> Result<bool> {
    match command {
        Manage::Quota(Quota::Check) => quota_check(args).await,
    }
}

async fn quota_check(args: &SourceArgs) -> Result<bool> {
    let (config, _) = args.load()?;
    let store = Store::open(&config.database.store_options(config.database_url())).await?;
    store.check_schema().await?;
    let mut tx = store.begin().await?;
    tx.lock_quota().await?;
    let counted = tx.count_quota().await?;
    let drift = tx.quota_check(&counted, is_counted, false).await?;
    tx.rollback().await?;
    store.close().await;
    for d in &drift {
        line(format_args!("project {} {}: recorded {}, counted {}", d.project_id, d.resource, d.recorded, d.counted));
    }
    line(format_args!("{} figures counted, {} differ", counted.len(), drift.len()));
    Ok(drift.is_empty())
}
