//! What must be tried again: back ends that are down, and quarantined ones whose pause is over.

use std::{sync::Arc, time::Instant};

use futures::future::join_all;

use super::{Applied, Catalog, CatalogError, open::PATIENCE};
use crate::{
    config::BackendConfig,
    driver::{call::Call, loader::Driver},
};

impl Catalog {
    /// Tries what is due. Returns the back ends that came up.
    ///
    /// # Errors
    /// [`CatalogError`].
    pub async fn tend(&self) -> Result<Vec<String>, CatalogError> {
        self.probe_quarantined().await;
        self.retry_held_back().await?;
        let due: Vec<_> = {
            let book = self.book();
            let now = Instant::now();
            let down = book.backends.values().filter(|b| b.down.as_ref().is_some_and(|d| d.retry_at <= now));
            down.map(|b| (book.drivers.get(&b.config.driver).and_then(|d| d.loaded.clone()), b.config.clone())).collect()
        };
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let _turn = self.inner.turn.lock().await;
        let mut opening: Vec<(Arc<dyn Driver>, _)> = Vec::new();
        for (driver, config) in due {
            match driver {
                Some(driver) => opening.push((driver, config)),
                None => {
                    if let Some(entry) = self.book().backends.get_mut(&config.name) {
                        entry.fails(format!("the driver `{}` is not loaded", config.driver));
                    }
                }
            }
        }
        let mut up = Vec::new();
        for one in self.open_all(opening, PATIENCE).await? {
            let name = one.config.name.clone();
            // it may have been changed, removed or brought up while we waited for our turn
            let same = self.book().backends.get(&name).is_some_and(|b| b.config == one.config && b.down.is_some());
            if !same {
                continue;
            }
            let failure = match one.result {
                Ok(new) => match self.before_swap(&new).await? {
                    Ok(()) => {
                        self.swap(new).await?;
                        tracing::info!(backend = %name, "the back end came up");
                        up.push(name);
                        continue;
                    }
                    Err(reason) => reason,
                },
                Err(e) => format!("{}: {}", e.kind.as_str(), e.message),
            };
            if let Some(entry) = self.book().backends.get_mut(&name) {
                entry.fails(failure);
            }
        }
        Ok(up)
    }

    /// Changes of the configuration that could not be made.
    async fn retry_held_back(&self) -> Result<(), CatalogError> {
        let due: Vec<(String, Option<Arc<BackendConfig>>)> = {
            let book = self.book();
            let now = Instant::now();
            let held = book.backends.iter().filter_map(|(name, b)| b.held_back.as_ref().map(|h| (name, h)));
            held.filter(|(_, h)| h.retry_at <= now).map(|(name, h)| (name.clone(), h.wanted.clone())).collect()
        };
        if due.is_empty() {
            return Ok(());
        }
        let _turn = self.inner.turn.lock().await;
        let mut applied = Applied::default();
        let mut opening = Vec::new();
        for (name, wanted) in due {
            let still = self.book().backends.get(&name).and_then(|b| b.held_back.as_ref()).is_some_and(|h| h.wanted == wanted);
            match wanted {
                _ if !still => {}
                None => self.remove_unused(&name, &mut applied).await?,
                Some(config) => {
                    let driver = self.book().drivers.get(&config.driver).and_then(|d| d.loaded.clone());
                    opening.extend(driver.map(|d| (d, config)));
                }
            }
        }
        self.open_changed(opening, PATIENCE, &mut applied).await
    }

    /// A report is the cheapest call there is: it decides whether a quarantine ends.
    async fn probe_quarantined(&self) {
        let due: Vec<_> = self.backends().into_iter().filter(|b| b.gate.wants_probe()).collect();
        let probes = due.iter().map(|backend| async {
            let budget = backend.config.grants.call_timeout;
            if let Err(error) = backend.refresh(&Call::internal(format!("probe:{}", backend.host), budget)).await {
                tracing::info!(backend = %backend.host, %error, "the quarantined back end still fails");
            }
        });
        join_all(probes).await;
    }
}
