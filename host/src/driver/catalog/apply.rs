//! The configured back ends change: come, go, or get other settings, while the rest serves.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde::Serialize;

use super::{Catalog, CatalogError, book::BackendEntry, open::PATIENCE};
use crate::{config::BackendConfig, driver::loader::Driver};

/// What became of one back end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeResult {
    Added,
    Changed,
    Removed,
    /// It stays as it was.
    Refused,
    /// It is configured but does not serve; it is tried again.
    Down,
}

/// One back end's change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackendChange {
    pub backend: String,
    pub result: ChangeResult,
    pub reason: Option<String>,
}

/// What a new configuration did. Back ends that did not change are not named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    pub changes: Vec<BackendChange>,
}

impl Applied {
    fn push(&mut self, backend: &str, result: ChangeResult, reason: Option<String>) {
        if let Some(reason) = &reason {
            tracing::warn!(%backend, ?result, %reason, "a back end is not as configured");
        } else {
            tracing::info!(%backend, ?result, "a back end's configuration is in force");
        }
        self.changes.push(BackendChange { backend: backend.to_owned(), result, reason });
    }
}

impl Catalog {
    /// Makes the loaded back ends what `wanted` says. Removing one that resources use is refused; a change that does not
    /// start, or lacks what resources use, leaves the old incarnation serving.
    ///
    /// # Errors
    /// [`CatalogError`]; a back end that is refused or down is in the answer.
    pub async fn apply(&self, wanted: &[BackendConfig]) -> Result<Applied, CatalogError> {
        self.apply_within(wanted, PATIENCE).await
    }

    pub(super) async fn apply_within(&self, wanted: &[BackendConfig], patience: Duration) -> Result<Applied, CatalogError> {
        let _turn = self.inner.turn.lock().await;
        let mut applied = Applied::default();
        self.remove_all_but(wanted, &mut applied).await?;
        let mut opening = Vec::new();
        for config in wanted {
            let known = self.book().backends.get(&config.name).map(|b| (b.config.clone(), b.down.is_some()));
            if known.as_ref().is_some_and(|(old, down)| **old == *config && !*down) {
                if let Some(entry) = self.book().backends.get_mut(&config.name) {
                    entry.held_back = None;
                }
                continue;
            }
            let config = Arc::new(config.clone());
            let driver = self.book().drivers.get(&config.driver).and_then(|d| d.loaded.clone());
            match driver {
                Some(driver) => opening.push((driver, config)),
                None => {
                    let reason = format!("the driver `{}` is not loaded: put `{0}.wasm` into the plugin folder", config.driver);
                    self.not_opened(config, reason, &mut applied)?;
                }
            }
        }
        self.open_changed(opening, patience, &mut applied).await?;
        Ok(applied)
    }

    pub(super) async fn open_changed(
        &self,
        opening: Vec<(Arc<dyn Driver>, Arc<BackendConfig>)>,
        patience: Duration,
        applied: &mut Applied,
    ) -> Result<(), CatalogError> {
        for one in self.open_all(opening, patience).await? {
            let new = match one.result {
                Ok(new) => new,
                Err(e) => {
                    self.not_opened(one.config, format!("{}: {}", e.kind.as_str(), e.message), applied)?;
                    continue;
                }
            };
            let serves = self.inner.live.load().contains_key(&new.host);
            let mut against = if serves { self.lacks(&new).await? } else { Vec::new() };
            if against.is_empty() {
                against.extend(self.before_swap(&new).await?.err());
            }
            if !against.is_empty() {
                self.not_opened(one.config, against.join("; "), applied)?;
                continue;
            }
            self.book().backends.entry(one.config.name.clone()).or_insert_with(|| BackendEntry::new(one.config.clone())).config =
                one.config.clone();
            self.swap(new).await?;
            applied.push(&one.config.name, if serves { ChangeResult::Changed } else { ChangeResult::Added }, None);
        }
        Ok(())
    }

    /// The wanted configuration does not serve: the old incarnation stays, or the back end is down.
    fn not_opened(&self, config: Arc<BackendConfig>, reason: String, applied: &mut Applied) -> Result<(), CatalogError> {
        let serves = self.inner.live.load().contains_key(&self.host_of(&config.name)?);
        let name = config.name.clone();
        {
            let mut book = self.book();
            let entry = book.backends.entry(name.clone()).or_insert_with(|| BackendEntry::new(config.clone()));
            if serves {
                entry.hold_back(Some(config), reason.clone());
            } else {
                if entry.config != config {
                    *entry = BackendEntry::new(config);
                }
                entry.fails(reason.clone());
            }
        }
        applied.push(&name, if serves { ChangeResult::Refused } else { ChangeResult::Down }, Some(reason));
        Ok(())
    }

    async fn remove_all_but(&self, wanted: &[BackendConfig], applied: &mut Applied) -> Result<(), CatalogError> {
        let keep: BTreeSet<&str> = wanted.iter().map(|b| b.name.as_str()).collect();
        let gone: Vec<String> = self.book().backends.keys().filter(|name| !keep.contains(name.as_str())).cloned().collect();
        for name in gone {
            self.remove_unused(&name, applied).await?;
        }
        Ok(())
    }

    /// Removes a back end unless resources use it.
    pub(super) async fn remove_unused(&self, name: &str, applied: &mut Applied) -> Result<(), CatalogError> {
        let host = self.host_of(name)?;
        let uses = self.parts()?.store.backend_uses(&host).await?;
        if uses.any() {
            let reason = format!("it still holds {} volumes: delete or move them first", uses.volumes);
            if let Some(entry) = self.book().backends.get_mut(name) {
                entry.hold_back(None, format!("removed from the configuration, but {reason}"));
            }
            applied.push(name, ChangeResult::Refused, Some(reason));
            return Ok(());
        }
        self.book().backends.remove(name);
        self.retire(&host).await?;
        applied.push(name, ChangeResult::Removed, None);
        Ok(())
    }
}
