//! `DELETE /security-services/{id}`.

use super::load_for;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{network_refusal as refusal, page::to_tombstone},
    store::{
        StoreError,
        sql::{security_services::ServiceSort, tombstones::Tombstone},
    },
};

/// # Errors
/// 403 also for one that a network uses, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    load_for(app, ctx, id, "security_service:delete").await?;
    let used = || Error::forbidden("Cannot delete security service. It is assigned to share network(s)");
    let mut tx = app.store.begin().await?;
    let Some(found) = tx.security_service_locked(id).await? else { return Err(refusal::service_not_found(id)) };
    if tx.security_service_uses(id).await?.0 > 0 {
        return Err(used());
    }
    tx.security_service_remove(id).await.map_err(|e| match e {
        StoreError::Missing { .. } => used(),
        e => e.into(),
    })?;
    tx.tombstone(&Tombstone {
        kind: "security_service",
        id: id.to_owned(),
        project_id: found.project_id.clone(),
        sort_keys: to_tombstone::<ServiceSort>(&found),
        request_id: ctx.request_id.clone(),
        ..Tombstone::default()
    })
    .await?;
    Ok(tx.commit().await?)
}
