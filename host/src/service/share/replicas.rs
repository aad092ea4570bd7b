//! `GET /share-replicas`: whoever may ask learns that there are none, of whichever share.

use crate::{app::App, context::RequestContext, error::Result, policy::Target};

/// # Errors
/// 403.
pub fn check_list(app: &App, ctx: &RequestContext) -> Result<()> {
    app.policy.check(ctx, "share_replica:get_all", &Target::own(ctx))
}
