//! `GET .../export_locations`.

use super::{Location, instance_for, share_for};
use crate::{app::App, context::RequestContext, error::Result, store::StoreResult};

/// # Errors
/// 403 also for another project's share, 404.
pub async fn of_share(app: &App, ctx: &RequestContext, share_id: &str) -> Result<Vec<Location>> {
    let share = share_for(app, ctx, share_id, "share_export_location:index").await?;
    Ok(visible(app, ctx, &share.instance_id).await?)
}

/// # Errors
/// 403, 404.
pub async fn of_instance(app: &App, ctx: &RequestContext, instance_id: &str) -> Result<Vec<Location>> {
    instance_for(app, ctx, instance_id, "share_instance_export_location:index").await?;
    Ok(visible(app, ctx, instance_id).await?)
}

async fn visible(app: &App, ctx: &RequestContext, instance_id: &str) -> StoreResult<Vec<Location>> {
    let rows: Vec<_> = app.store.share_locations(instance_id).await?.into_iter().filter(|l| ctx.is_admin() || !l.admin_only).collect();
    let mut pairs = app.store.share_location_metadata(&rows).await?;
    Ok(rows.into_iter().map(|row| Location { metadata: pairs.remove(&row.id).unwrap_or_default(), row }).collect())
}
