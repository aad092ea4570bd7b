//! `DELETE /share-group-types/{id}`.

use super::{authorise, not_found};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::type_event::{self, Change},
    store::sql::types::TypeOf,
};

/// # Errors
/// 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    authorise(app, ctx, "share_group_type:delete")?;
    let mut tx = app.store.begin().await?;
    if tx.type_locked(TypeOf::ShareGroup, id).await?.is_none() || !tx.type_remove(TypeOf::ShareGroup, id).await? {
        return Err(not_found(id));
    }
    type_event::tell(&mut tx, ctx, TypeOf::ShareGroup, id, Change::Delete).await?;
    Ok(tx.commit().await?)
}
