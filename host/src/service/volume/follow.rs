//! Volumes follow their back end's identity (`shared_targets`, `service_uuid`, `backend_name`) when its driver is replaced,
//! its report changes or its `backend_id` is set.
//!
//! A connect aligns its own volume first, so a change to the safer value is in force before the new driver serves anybody;
//! the rest follows in batches, each a transaction of its own. Cut short, the next run finds what is left.

use crate::{
    app::App,
    store::{
        StoreResult,
        sql::{backends::BackendRow, volumes::BackendIdentity},
    },
};

/// Volumes changed in one transaction.
const BATCH: i64 = 500;

/// What volumes on this back end carry.
pub fn identity(backend: &BackendRow) -> BackendIdentity {
    BackendIdentity {
        shared_targets: backend.shared_targets(),
        service_uuid: backend.service_uuid.clone(),
        backend_name: backend.backend_name.clone(),
    }
}

/// Brings every volume of `backend` in line with its row; how many changed.
pub async fn follow(app: &App, backend: &str) -> StoreResult<usize> {
    let mut changed = 0;
    loop {
        let batch = one_batch(app, backend).await?;
        changed += batch;
        if batch == 0 {
            return Ok(changed);
        }
        tokio::task::yield_now().await;
    }
}

/// The identity is read anew for each batch and kept while it is written: it may have changed since the last.
async fn one_batch(app: &App, backend: &str) -> StoreResult<usize> {
    let mut tx = app.store.begin().await?;
    let Some(row) = tx.backend_kept(backend).await? else { return Ok(0) };
    let identity = identity(&row);
    let ids = tx.volumes_that_differ(backend, &identity, BATCH).await?;
    for id in &ids {
        tx.volume_identity(id, &identity).await?;
    }
    tx.commit().await?;
    Ok(ids.len())
}
