//! What of snapshots lies on back ends, for administrators. Every snapshot has one instance.

pub mod list;
pub mod reset;
pub mod show;

use crate::{
    app::App, context::RequestContext, error::Result, policy::Target, service::share_refusal as refusal,
    store::sql::share_snapshots::ShareSnapshotRow,
};

/// The instance's snapshot, for whoever may do `action` with instances.
pub(in crate::service) async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareSnapshotRow> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    app.store.share_snapshot_of_instance(id).await?.ok_or_else(|| refusal::snapshot_instance_not_found(id))
}
