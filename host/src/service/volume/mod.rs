//! Volumes.

pub mod bootable;
pub mod create;
pub mod delete;
pub mod destroy;
pub mod extend;
pub mod follow;
pub mod hold;
pub mod list;
pub mod migrate;
pub mod migrate_completion;
pub mod readonly;
pub mod reset;
pub mod retype;
pub mod revert;
pub mod room;
pub mod show;
pub mod source;
pub mod summary;
pub mod update;

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::refusal,
    store::sql::{volume_list::Volume, volumes::VolumeRow},
};

/// The volume, if the caller may know of it: another project's is not found, on every path.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<Volume> {
    match app.store.volume_complete(id).await? {
        Some(volume) if ctx.is_admin() || volume.row.project_id == ctx.project_id() => Ok(volume),
        _ => Err(refusal::volume_not_found(id)),
    }
}

/// As [`load`], without metadata and attachments.
pub async fn load_row(app: &App, ctx: &RequestContext, id: &str) -> Result<VolumeRow> {
    match app.store.volume(id).await? {
        Some(row) if ctx.is_admin() || row.project_id == ctx.project_id() => Ok(row),
        _ => Err(refusal::volume_not_found(id)),
    }
}

/// As [`load_row`], and the caller may do `action` with it.
pub async fn load_row_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<VolumeRow> {
    let row = load_row(app, ctx, id).await?;
    app.policy.check(ctx, action, &Target { project_id: &row.project_id, user_id: &row.user_id, ..Target::default() })?;
    Ok(row)
}

/// As [`load`], and the caller may do `action` with it.
pub async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<Volume> {
    let volume = load(app, ctx, id).await?;
    app.policy.check(ctx, action, &Target { project_id: &volume.row.project_id, user_id: &volume.row.user_id, ..Target::default() })?;
    Ok(volume)
}
