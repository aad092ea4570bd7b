//! `GET .../export_locations/{id}`.

use super::{Location, instance_for, share_for};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    store::sql::{metadata::MetadataOf, share_locations::LocationRow},
};

/// # Errors
/// 403 also for another project's share and for a location that is not for everybody, 404.
pub async fn of_share(app: &App, ctx: &RequestContext, share_id: &str, id: &str) -> Result<Location> {
    let share = share_for(app, ctx, share_id, "share_export_location:show").await?;
    with_pairs(app, super::of_instance(app, ctx, &share.instance_id, id).await?).await
}

/// # Errors
/// 403, 404.
pub async fn of_instance(app: &App, ctx: &RequestContext, instance_id: &str, id: &str) -> Result<Location> {
    instance_for(app, ctx, instance_id, "share_instance_export_location:show").await?;
    with_pairs(app, super::of_instance(app, ctx, instance_id, id).await?).await
}

async fn with_pairs(app: &App, row: LocationRow) -> Result<Location> {
    let metadata = app.store.metadata(MetadataOf::ExportLocation, &row.id).await?;
    Ok(Location { row, metadata })
}
