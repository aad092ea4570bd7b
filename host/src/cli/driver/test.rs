//! `stowage driver test`: every promise of the contract, tried with the driver on the array that a back end's section names.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result, bail};
use stowage::{
    config::{BackendConfig, BackendKind, Config},
    driver::{
        Driver as _,
        kit::{self, Outcome},
    },
    store::{Durability, Store, StoreOptions},
};

use super::load;
use crate::cli::{SourceArgs, print::line};

/// False when a promise was broken.
pub async fn run(args: &SourceArgs, file: &Path, backend: Option<&str>) -> Result<bool> {
    let name = super::name_of(file);
    // what the driver keeps ends with the run; a service's own database is never touched
    let scratch = tempfile::tempdir()?;
    let url = format!("sqlite:{}", scratch.path().join("kit.db").display());
    let store = Store::open(&StoreOptions { durability: Durability::Process, ..StoreOptions::new(url) }).await?;
    store.migrate().await?;
    let loaded = load(file, Some(store.driver_db().await?)).await?;
    let kind = if loaded.identity().exports.iter().any(|e| e == "volumes") { BackendKind::Block } else { BackendKind::Share };
    let config = section(args, &name, backend, kind)?;
    let budget = config.grants.call_timeout;
    let opened = loaded.open(&format!("kit@{}", config.name), Arc::new(config)).await;
    let backend = opened.with_context(|| format!("{name} does not take this back end; `stowage driver check` lists its options"))?;
    let report = kit::run(&backend, budget).await;
    let mut count = [0, 0, 0];
    for check in &report.checks {
        let (column, word, why) = match &check.outcome {
            Outcome::Kept => (0, "kept", String::new()),
            Outcome::Broken(what) => (1, "BROKEN", format!(": {what}")),
            Outcome::Skipped(why) => (2, "left out", format!(": {why}")),
        };
        count[column] += 1;
        line(format_args!("{word:<8} {}{why}", check.promise));
    }
    line(format_args!("{} kept, {} broken, {} left out", count[0], count[1], count[2]));
    Ok(count[1] == 0 && count[0] > 0)
}

/// The back end's section: the one of this name, else the only one on this driver; without a file, one without options.
fn section(args: &SourceArgs, driver: &str, wanted: Option<&str>, kind: BackendKind) -> Result<BackendConfig> {
    let (config, source) = args.load()?;
    let Some(file) = source.file else {
        if wanted.is_some() {
            bail!("--backend names a section of a configuration file: give it with --config");
        }
        return Ok(BackendConfig { kind, ..BackendConfig::new("kit", driver) });
    };
    one(config, driver, wanted).with_context(|| format!("in {}", file.display()))
}

fn one(config: Config, driver: &str, wanted: Option<&str>) -> Result<BackendConfig> {
    let mut fit = config.backends.into_iter().filter(|b| wanted.map_or(b.driver == driver, |name| b.name == name));
    match (fit.next(), fit.next(), wanted) {
        (Some(only), None, _) => Ok(only),
        (Some(_), Some(_), _) => bail!("several back ends use the driver {driver:?}: choose one with --backend"),
        (None, _, Some(name)) => bail!("there is no back end {name:?}"),
        (None, _, None) => bail!("no back end uses the driver {driver:?}: add a [[backend]] with driver = {driver:?}"),
    }
}
