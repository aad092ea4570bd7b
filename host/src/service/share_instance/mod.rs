//! What of shares lies on back ends, for administrators. Every share has one instance.

pub mod force_delete;
pub mod list;
pub mod reset;
pub mod show;

use crate::{
    app::App, context::RequestContext, error::Result, policy::Target, service::share_refusal as refusal, store::sql::shares::ShareRow,
};

/// The instance's share, for whoever may do `action` with instances.
async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareRow> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    app.store.share_of_instance(id).await?.ok_or_else(|| refusal::instance_not_found(id))
}
