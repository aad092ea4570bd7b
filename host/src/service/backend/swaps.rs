//! What must be true around the swap of a back end's incarnation: volumes carry the safer `shared_targets` before the new
//! incarnation serves a connect, no report of the old one makes them less safe again, and its report is stored soon after.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::{
    driver::{backend::Backend, catalog::Hooks},
    reconcile::stats::Stats,
    store::{Store, StoreResult},
};

/// See the module.
pub struct Swaps {
    store: Store,
    stats: Stats,
}

impl Swaps {
    pub fn new(store: Store, stats: Stats) -> Self {
        Self { store, stats }
    }

    async fn raise(&self, new: &Backend) -> StoreResult<()> {
        let Some(timed) = new.capabilities() else { return Ok(()) };
        let mut tx = self.store.begin().await?;
        tx.adopt_incarnation(&new.host, &new.incarnation()).await?;
        tx.shared_targets_at_least(&new.host, timed.report.features.volume_shared_targets()).await?;
        tx.commit().await
    }
}

impl Hooks for Swaps {
    fn before_swap<'a>(&'a self, _: Option<&'a Arc<Backend>>, new: &'a Arc<Backend>) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(
            async move { self.raise(new).await.map_err(|e| format!("what volumes say about shared targets could not be stored: {e}")) },
        )
    }

    fn on_capabilities_changed<'a>(&'a self, _: Option<&'a Arc<Backend>>, new: &'a Arc<Backend>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.stats.soon(&new.host);
        })
    }
}
