//! `stowage manage`: what an operator does with the database, service running or not (on SQLite: not).

use anyhow::Result;
use clap::Subcommand;

use super::SourceArgs;

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
    let _ = args.load()?;
    anyhow::bail!("the quota check is not part of this build yet")
}
