//! What must be true around the swap of a back end's incarnation: volumes carry the safer `shared_targets` before the new
//! incarnation serves a connect, no report of the old one makes them less safe again, and its report is stored soon after.
//! A job of a back end of shares sees whether its shares must be ensured.

use std::sync::Arc;

use futures::future::BoxFuture;

use serde_json::json;
use uuid::Uuid;

use crate::{
    config::BackendKind,
    driver::{backend::Backend, catalog::Hooks},
    jobs::Jobs,
    reconcile::stats::Stats,
    service::share_service::start::{Asker, job},
    store::{Store, StoreResult},
};

/// See the module.
pub struct Swaps {
    store: Store,
    jobs: Jobs,
    stats: Stats,
}

impl Swaps {
    pub fn new(store: Store, jobs: Jobs, stats: Stats) -> Self {
        Self { store, jobs, stats }
    }

    /// A job that asks the new incarnation for its fingerprint.
    async fn check_shares(&self, new: &Backend) -> StoreResult<()> {
        if new.config.kind != BackendKind::Share || new.ensure().is_none() {
            return Ok(());
        }
        let request_id = format!("req-{}", Uuid::new_v4());
        let asker = Asker { request_id: &request_id, project_id: "", user_id: "" };
        let mut tx = self.store.begin().await?;
        tx.enqueue(&self.jobs, job(&new.host, json!({ "incarnation": new.incarnation() }), asker)).await?;
        tx.commit().await
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
            if let Err(e) = self.check_shares(new).await {
                tracing::error!(backend = %new.host, error = %e, "whether shares must be ensured is not looked at before the next swap or start");
            }
        })
    }
}
