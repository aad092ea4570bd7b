//! Whether a new incarnation can still do what existing resources need.

use super::{Catalog, CatalogError};
use crate::driver::backend::Backend;
pub use crate::store::sql::driver_uses::BackendUses;

impl Catalog {
    /// What `new` lacks that resources of its back end use; one sentence each, none for nothing.
    pub(super) async fn lacks(&self, new: &Backend) -> Result<Vec<String>, CatalogError> {
        let uses = self.parts()?.store.backend_uses(&new.host).await?;
        Ok(lacks(&uses, new))
    }
}

fn lacks(uses: &BackendUses, new: &Backend) -> Vec<String> {
    let mut missing = Vec::new();
    let host = &new.host;
    if uses.volumes > 0 && new.volumes().is_none() {
        missing.push(format!("{host}: it does not export `volumes`, and {} volumes exist", uses.volumes));
    }
    if uses.attachments > 0 && new.connection_info().is_none() {
        missing.push(format!("{host}: it does not export `connection-info`, and {} attachments exist", uses.attachments));
    }
    if uses.snapshots > 0 && new.volume_snapshots().is_none() {
        missing.push(format!("{host}: it does not export `volume-snapshots`, and {} snapshots exist", uses.snapshots));
    }
    if uses.replicated > 0 && new.volume_replication().is_none() {
        missing.push(format!("{host}: it does not export `volume-replication`, and {} replicated volumes exist", uses.replicated));
    }
    if uses.shares > 0 && new.shares().is_none() {
        missing.push(format!("{host}: it does not export `shares`, and {} shares exist", uses.shares));
    }
    if uses.rules > 0 && new.access().is_none() {
        missing.push(format!("{host}: it does not export `access`, and {} access rules exist", uses.rules));
    }
    if uses.share_snapshots > 0 && new.share_snapshots().is_none() {
        missing.push(format!("{host}: it does not export `share-snapshots`, and {} snapshots exist", uses.share_snapshots));
    }
    if uses.migrations > 0 && (new.share_server_migration().is_none() || new.share_servers().is_none()) {
        missing.push(format!(
            "{host}: it does not export `share-server-migration` or `share-servers`, and {} share servers are moving to or from it",
            uses.migrations
        ));
    }
    let Some(timed) = new.capabilities() else { return missing };
    for pool in &uses.pools {
        match timed.report.pool(&pool.name) {
            None => missing.push(format!("{host}: it does not report the pool `{}`, which holds {}", pool.name, pool.what())),
            Some(reported) if pool.multiattach > 0 && !timed.report.multiattach(reported) => {
                missing.push(format!("{host}: its pool `{}` has no multiattach, which {} volumes use", pool.name, pool.multiattach));
            }
            Some(_) => {}
        }
    }
    missing
}
