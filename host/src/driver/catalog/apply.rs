//! The configured back ends change: come, go, or get other settings, while the rest serves.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;

use super::{
    Catalog, CatalogError,
    book::BackendEntry,
    open::{Opened, PATIENCE},
};
use crate::config::BackendConfig;

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
        let _alone = self.inner.applying.lock().await;
        let mut applied = Applied::default();
        self.remove_all_but(wanted, &mut applied).await?;
        let mut opening = FuturesUnordered::new();
        for config in wanted {
            if let Some(entry) = self.book().backends.get_mut(&config.name).filter(|e| *e.config == *config && e.down.is_none()) {
                entry.held_back = None;
                continue;
            }
            let config = Arc::new(config.clone());
            opening.push(async move { self.open_one(&config, patience).await });
        }
        // each as it opens: nobody waits for an array that hangs
        while let Some(opened) = opening.next().await {
            let (_turn, opened) = opened?;
            self.change(opened, &mut applied).await?;
        }
        let place = |backend: &str| wanted.iter().position(|w| w.name == backend);
        applied.changes.sort_by_key(|change| place(&change.backend));
        Ok(applied)
    }

    /// Makes a back end what it was opened as. The caller has the turn.
    pub(super) async fn change(&self, opened: Opened, applied: &mut Applied) -> Result<(), CatalogError> {
        let config = opened.config;
        let new = match opened.result {
            Ok(new) => new,
            Err(e) => return self.not_opened(config, Opened::failure(&e), applied),
        };
        let serving = self.inner.live.load().get(&new.host).cloned();
        let mut against = Vec::new();
        if let Some(serving) = &serving {
            against.extend(self.other_driver(&serving.driver, &new.driver, &new.host).await?.map(|o| o.to_string()));
            against.extend(self.lacks(&new).await?);
        }
        if against.is_empty() {
            against.extend(self.before_swap(&new).await?.err());
        }
        if !against.is_empty() {
            return self.not_opened(config, against.join("; "), applied);
        }
        self.book().backends.entry(config.name.clone()).or_insert_with(|| BackendEntry::new(config.clone())).config = config.clone();
        self.swap(new).await?;
        applied.push(&config.name, if serving.is_some() { ChangeResult::Changed } else { ChangeResult::Added }, None);
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
        let _turn = self.inner.turn.lock().await;
        for name in gone {
            self.remove_unused(&name, applied).await?;
        }
        Ok(())
    }

    /// Removes a back end unless resources use it. The caller has the turn.
    pub(super) async fn remove_unused(&self, name: &str, applied: &mut Applied) -> Result<(), CatalogError> {
        let host = self.host_of(name)?;
        let uses = self.parts()?.store.backend_uses(&host).await?;
        if uses.any() {
            let reason = format!("it still holds {}: delete or move them first", uses.what());
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
