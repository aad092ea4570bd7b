//! Which projects may use a private type.

use super::{authorise, load};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::type_event::{self, Change},
    store::{StoreError, sql::types::TypeOf},
};

/// The projects a private type was given to.
///
/// # Errors
/// 403, 404 also for a public type, which has no such list.
pub async fn list(app: &App, ctx: &RequestContext, type_id: &str) -> Result<Vec<String>> {
    authorise(app, ctx, "share_type:list_project_access")?;
    if load(app, ctx, type_id).await?.row.is_public {
        return Err(Error::not_found("Access list not available for public share types."));
    }
    Ok(app.store.type_projects(TypeOf::Share, type_id).await?)
}

/// # Errors
/// 403, 404, 409 for a public type and when the project has it.
pub async fn add(app: &App, ctx: &RequestContext, type_id: &str, project_id: &str) -> Result<()> {
    authorise(app, ctx, "share_type:add_project_access")?;
    check_private(app, ctx, type_id).await?;
    let mut tx = app.store.begin().await?;
    tx.type_grant(TypeOf::Share, type_id, project_id).await.map_err(|e| match e {
        StoreError::Duplicate { .. } => {
            Error::conflict(format!("Share type access for {type_id} / {project_id} combination already exists."))
        }
        StoreError::Missing { .. } => crate::service::share_refusal::type_not_found(),
        other => other.into(),
    })?;
    type_event::tell(&mut tx, ctx, TypeOf::Share, type_id, Change::AccessAdd(project_id)).await?;
    Ok(tx.commit().await?)
}

/// # Errors
/// 403, 404 also when the project does not have it, 409 for a public type.
pub async fn remove(app: &App, ctx: &RequestContext, type_id: &str, project_id: &str) -> Result<()> {
    authorise(app, ctx, "share_type:remove_project_access")?;
    check_private(app, ctx, type_id).await?;
    let mut tx = app.store.begin().await?;
    if !tx.type_withdraw(TypeOf::Share, type_id, project_id).await? {
        return Err(Error::not_found(format!("Share type access not found for {type_id} / {project_id} combination.")));
    }
    type_event::tell(&mut tx, ctx, TypeOf::Share, type_id, Change::AccessRemove(project_id)).await?;
    Ok(tx.commit().await?)
}

async fn check_private(app: &App, ctx: &RequestContext, type_id: &str) -> Result<()> {
    if load(app, ctx, type_id).await?.row.is_public {
        return Err(Error::conflict("Type access modification is not applicable to public share type."));
    }
    Ok(())
}
