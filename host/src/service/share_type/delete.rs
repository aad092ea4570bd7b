//! `DELETE /types/{id}`.

use super::authorise;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{
        share_refusal as refusal,
        type_event::{self, Change},
    },
    store::sql::types::TypeOf,
};

/// # Errors
/// 400 for one in use, 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    authorise(app, ctx, "share_type:delete")?;
    let mut tx = app.store.begin().await?;
    if tx.type_locked(TypeOf::Share, id).await?.is_none() {
        return Err(refusal::type_not_found());
    }
    if !tx.type_remove(TypeOf::Share, id).await? {
        return Err(Error::invalid("Target share type is still in use."));
    }
    // its figures and limits are kept under its id and count nothing any more
    tx.quota_forget_type(id).await?;
    type_event::tell(&mut tx, ctx, TypeOf::Share, id, Change::Delete).await?;
    Ok(tx.commit().await?)
}
