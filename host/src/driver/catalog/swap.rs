//! The moment one incarnation takes another's place, and the draining of the old one.

use std::sync::Arc;

use super::{Catalog, CatalogError, book::Drain};
use crate::{clock, driver::backend::Backend};

impl Catalog {
    /// Asks the hooks whether `new` may serve.
    pub(super) async fn before_swap(&self, new: &Arc<Backend>) -> Result<Result<(), String>, CatalogError> {
        let old = self.inner.live.load().get(&new.host).cloned();
        for hook in &self.parts()?.hooks {
            if let Err(reason) = hook.before_swap(old.as_ref(), new).await {
                return Ok(Err(reason));
            }
        }
        Ok(Ok(()))
    }

    /// Puts `new` into service: from here on it gets the calls, and the old one ends those it has.
    pub(super) async fn swap(&self, new: Arc<Backend>) -> Result<(), CatalogError> {
        let old = self.insert(new.clone());
        if let Some(entry) = self.book().backends.get_mut(new.name()) {
            entry.up();
        }
        if let Some(old) = &old {
            self.drain(old);
        }
        for hook in &self.parts()?.hooks {
            hook.on_capabilities_changed(old.as_ref(), &new).await;
        }
        Ok(())
    }

    /// Takes a back end out of service; what it does now, it ends.
    pub(super) async fn retire(&self, host: &str) -> Result<(), CatalogError> {
        let Some(old) = self.remove(host) else { return Ok(()) };
        self.drain(&old);
        for hook in &self.parts()?.hooks {
            hook.on_removed(&old).await;
        }
        Ok(())
    }

    /// Follows an old incarnation until its last call has ended.
    fn drain(&self, old: &Arc<Backend>) {
        let began = clock::now();
        {
            let mut book = self.book();
            book.drains.push(Drain {
                host: old.host.clone(),
                sha256: old.driver.sha256.clone(),
                began,
                ended: None,
                old: Arc::downgrade(old),
            });
            book.trim_drains();
        }
        let (catalog, gate, host) = (self.clone(), old.gate.clone(), old.host.clone());
        tokio::spawn(async move {
            gate.drained().await;
            let ended = clock::now();
            if let Some(drain) = catalog.book().drains.iter_mut().find(|d| d.began == began && d.host == host) {
                drain.ended = Some(ended);
            }
            tracing::info!(backend = %host, drained_ms = (ended - began) / 1000, "the old incarnation is drained");
        });
    }
}
