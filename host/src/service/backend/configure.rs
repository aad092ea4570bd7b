//! The configuration's back ends become rows: at start, and after every reload, before their drivers are opened.

use crate::{
    config::{self, Config},
    store::{
        Store, StoreResult,
        sql::backends::{BackendConfig, BackendKind},
    },
};

/// Adds and changes rows, and retires those that are gone, in one transaction. Doing it again changes nothing.
///
/// # Errors
/// The store's; the rows stay as they were.
pub async fn configure(store: &Store, config: &Config) -> StoreResult<()> {
    let rows: Vec<BackendConfig> = config.backends.iter().map(|b| row(config, b)).collect();
    let mut tx = store.begin().await?;
    for row in &rows {
        tx.configure_backend(row).await?;
    }
    for kind in [BackendKind::Block, BackendKind::Share] {
        let hosts: Vec<String> = rows.iter().filter(|r| r.kind == kind).map(|r| r.host.clone()).collect();
        for gone in tx.retire_backends_except(kind, &hosts).await? {
            tracing::info!(backend = %gone, "the back end is no longer in the configuration: nothing is placed there");
        }
    }
    tx.commit().await
}

fn row(config: &Config, backend: &config::BackendConfig) -> BackendConfig {
    let some = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
    BackendConfig {
        host: config.backend_host(&backend.name),
        kind: match backend.kind {
            config::BackendKind::Block => BackendKind::Block,
            config::BackendKind::Share => BackendKind::Share,
        },
        driver: backend.driver.clone(),
        backend_id: some(&backend.backend_id),
        availability_zone: some(&backend.availability_zone).unwrap_or_else(|| config.block.default_availability_zone.clone()),
        capacity_group: some(&backend.capacity_group),
        disabled: !backend.enabled,
    }
}
