//! Which projects may use a private type.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::type_event::{self, Change},
    store::StoreError,
    store::sql::types::TypeOf,
};

/// The projects a private type was given to.
///
/// # Errors
/// 404 also for a public type, which has no such list.
pub async fn list(app: &App, ctx: &RequestContext, type_id: &str) -> Result<Vec<String>> {
    app.policy.check(ctx, "volume_extension:volume_type_access:get_all_for_type", &Target::own(ctx))?;
    if super::load(app, ctx, type_id).await?.row.is_public {
        return Err(Error::not_found("Access list not available for public volume types."));
    }
    Ok(app.store.type_projects(TypeOf::Volume, type_id).await?)
}

/// # Errors
/// 400 for a public type, 404, 409 when the project has it.
pub async fn add(app: &App, ctx: &RequestContext, type_id: &str, project_id: &str) -> Result<()> {
    app.policy.check(ctx, "volume_extension:volume_type_access:addProjectAccess", &Target::own(ctx))?;
    check_private(app, ctx, type_id).await?;
    let mut tx = app.store.begin().await?;
    tx.type_grant(TypeOf::Volume, type_id, project_id).await.map_err(|e| match e {
        StoreError::Duplicate { .. } => {
            Error::conflict(format!("Volume type access for {type_id} / {project_id} combination already exists."))
        }
        other => other.into(),
    })?;
    type_event::tell(&mut tx, ctx, TypeOf::Volume, type_id, Change::AccessAdd(project_id)).await?;
    Ok(tx.commit().await?)
}

/// # Errors
/// 400 for a public type, 404 also when the project does not have it.
pub async fn remove(app: &App, ctx: &RequestContext, type_id: &str, project_id: &str) -> Result<()> {
    app.policy.check(ctx, "volume_extension:volume_type_access:removeProjectAccess", &Target::own(ctx))?;
    check_private(app, ctx, type_id).await?;
    let mut tx = app.store.begin().await?;
    if !tx.type_withdraw(TypeOf::Volume, type_id, project_id).await? {
        return Err(Error::not_found(format!("Volume type access not found for {type_id} / {project_id} combination.")));
    }
    type_event::tell(&mut tx, ctx, TypeOf::Volume, type_id, Change::AccessRemove(project_id)).await?;
    Ok(tx.commit().await?)
}

async fn check_private(app: &App, ctx: &RequestContext, type_id: &str) -> Result<()> {
    if super::load(app, ctx, type_id).await?.row.is_public {
        return Err(Error::invalid("Invalid volume type: Type access modification is not applicable to public volume type."));
    }
    Ok(())
}
