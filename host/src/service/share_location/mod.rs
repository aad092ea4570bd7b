//! Where a share can be mounted. Locations for administrators only are hidden from others.

pub mod list;
pub mod metadata;
pub mod show;

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{share, share_refusal as refusal},
    store::sql::{metadata::Pairs, share_locations::LocationRow, shares::ShareRow},
};

/// A location with its pairs.
#[derive(Debug, Clone)]
pub struct Location {
    pub row: LocationRow,
    pub metadata: Pairs,
}

/// The share of these locations. Whoever may not see them of a share that exists is told so: 403, not 404.
async fn share_for(app: &App, ctx: &RequestContext, share_id: &str, action: &str) -> Result<ShareRow> {
    let Some(row) = app.store.share(share_id).await? else { return Err(refusal::share_not_found(share_id)) };
    app.policy.check(ctx, action, &if row.is_public { Target::own(ctx) } else { share::target(&row) })?;
    Ok(row)
}

/// A location of this instance, if the caller may see it.
async fn of_instance(app: &App, ctx: &RequestContext, instance_id: &str, id: &str) -> Result<LocationRow> {
    let Some(row) = app.store.share_location(instance_id, id).await? else { return Err(refusal::location_not_found(id)) };
    if row.admin_only && !ctx.is_admin() {
        return Err(Error::forbidden(format!("Export location {} is for administrators only.", row.id)));
    }
    Ok(row)
}

/// The instance's share, for whoever administers instances.
async fn instance_for(app: &App, ctx: &RequestContext, instance_id: &str, action: &str) -> Result<ShareRow> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    app.store.share_of_instance(instance_id).await?.ok_or_else(|| refusal::instance_not_found(instance_id))
}
