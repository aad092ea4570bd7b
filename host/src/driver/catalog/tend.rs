//! What must be tried again: back ends that are down, changes that could not be made, and quarantined ones whose pause is
//! over. All side by side, each at its own pace: an array that hangs keeps nobody else waiting.

use std::{sync::Arc, time::Instant};

use futures::{
    future::join_all,
    stream::{FuturesUnordered, StreamExt},
};

use super::{
    Applied, Catalog, CatalogError,
    book::Book,
    open::{Opened, PATIENCE},
};
use crate::{config::BackendConfig, driver::call::Call};

impl Catalog {
    /// Tries what is due. Returns the back ends that came up.
    ///
    /// # Errors
    /// [`CatalogError`].
    pub async fn tend(&self) -> Result<Vec<String>, CatalogError> {
        let ((), held_back, up) = tokio::join!(self.probe_quarantined(), self.retry_held_back(), self.retry_down());
        held_back?;
        up
    }

    async fn retry_down(&self) -> Result<Vec<String>, CatalogError> {
        let mut opening: FuturesUnordered<_> =
            due_down(&self.book()).into_iter().map(|config| async move { self.open_one(&config, PATIENCE).await }).collect();
        let mut up = Vec::new();
        while let Some(opened) = opening.next().await {
            let (_turn, one) = opened?;
            let name = one.config.name.clone();
            // it may have been changed, removed or brought up meanwhile
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
                Err(e) => Opened::failure(&e),
            };
            if let Some(entry) = self.book().backends.get_mut(&name) {
                entry.fails(failure);
            }
        }
        Ok(up)
    }

    /// Changes of the configuration that could not be made.
    async fn retry_held_back(&self) -> Result<(), CatalogError> {
        let mut applied = Applied::default();
        let mut opening = FuturesUnordered::new();
        let due = due_held_back(&self.book());
        for (name, wanted) in due {
            opening.push(async move {
                let opened = match &wanted {
                    Some(config) => {
                        let (turn, opened) = self.open_one(config, PATIENCE).await?;
                        (turn, Some(opened))
                    }
                    None => (self.inner.turn.lock().await, None),
                };
                Ok::<_, CatalogError>((name, wanted, opened))
            });
        }
        while let Some(opened) = opening.next().await {
            let (name, wanted, (_turn, opened)) = opened?;
            let still = self.book().backends.get(&name).and_then(|b| b.held_back.as_ref()).is_some_and(|h| h.wanted == wanted);
            match opened {
                _ if !still => {}
                Some(opened) => self.change(opened, &mut applied).await?,
                None => self.remove_unused(&name, &mut applied).await?,
            }
        }
        Ok(())
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

fn due_down(book: &Book) -> Vec<Arc<BackendConfig>> {
    let now = Instant::now();
    book.backends.values().filter(|b| b.down.as_ref().is_some_and(|d| d.retry_at <= now)).map(|b| b.config.clone()).collect()
}

/// By name, with what each should be; none: gone.
fn due_held_back(book: &Book) -> Vec<(String, Option<Arc<BackendConfig>>)> {
    let now = Instant::now();
    let held = book.backends.iter().filter_map(|(name, b)| b.held_back.as_ref().map(|h| (name, h)));
    held.filter(|(_, h)| h.retry_at <= now).map(|(name, h)| (name.clone(), h.wanted.clone())).collect()
}
