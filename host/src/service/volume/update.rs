//! `PUT /volumes/{id}`: name, description, metadata (replaced as a whole).

use super::hold::hold_found;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume::VolumeStatus,
    error::Result,
    service::{
        refusal,
        volume::{create::check_metadata_count, destroy::event},
    },
    store::sql::metadata::MetadataOf,
    store::sql::volume_list::Volume,
};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateVolume {
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
    pub metadata: Option<Vec<(String, String)>>,
}

/// # Errors
/// 400 during maintenance, 404.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateVolume) -> Result<Volume> {
    if let Some(metadata) = &ask.metadata {
        check_metadata_count(metadata.len())?;
    }
    let mut volume = super::load_for(app, ctx, id, "volume:update").await?;
    let (mut tx, row) = hold_found(app, &volume.row).await?;
    if row.status == VolumeStatus::Maintenance.as_str() {
        return Err(refusal::invalid_volume("The volume cannot be updated during maintenance."));
    }
    event(&mut tx, "volume.update.start", &row, &ctx.request_id).await?;
    tx.volume_describe(id, ask.name.as_ref().map(Option::as_deref), ask.description.as_ref().map(Option::as_deref), clock::now()).await?;
    if let Some(metadata) = &ask.metadata {
        tx.metadata_clear(MetadataOf::Volume, id).await?;
        tx.metadata_put(MetadataOf::Volume, id, metadata).await?;
    }
    volume.metadata = tx.metadata(MetadataOf::Volume, id).await?;
    volume.row = tx.volume(id).await?.ok_or_else(|| refusal::volume_not_found(id))?;
    event(&mut tx, "volume.update.end", &volume.row, &ctx.request_id).await?;
    tx.commit().await?;
    Ok(volume)
}
