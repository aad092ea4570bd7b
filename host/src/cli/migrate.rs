//! `stowage migrate`

use anyhow::{Context, Result};
use stowage::{config::database_shown, serve::state_folder, store::Store};

use super::{SourceArgs, line};

pub async fn migrate(args: &SourceArgs) -> Result<()> {
    let (config, _) = args.load()?;
    let url = config.database_url();
    if config.database.url.is_empty() {
        state_folder(&config.state_dir)?;
    }
    let store =
        Store::open(&config.database.store_options(url.clone())).await.with_context(|| format!("cannot open {}", database_shown(&url)))?;
    let before = store.schema_found().await?;
    store.migrate().await?;
    let after = store.schema_found().await?;
    store.close().await;
    if before == after {
        line(format_args!("{}: at version {after} already", database_shown(&url)));
    } else {
        line(format_args!("{}: migrated from version {before} to {after}", database_shown(&url)));
    }
    Ok(())
}
