//! `PUT /services/enable` and `/disable`.

use super::SHARE;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::backend,
};

/// Enables or disables the back end `host`.
///
/// # Errors
/// 403, 404 for an unknown host or binary.
pub async fn enable(app: &App, ctx: &RequestContext, host: &str, binary: &str, enabled: bool, reason: Option<&str>) -> Result<()> {
    app.policy.check(ctx, "service:update", &Target::own(ctx))?;
    if binary != SHARE {
        return Err(Error::not_found(format!("Could not find binary {binary:.255} on host {host:.255}.")));
    }
    super::backend(app, host).await?;
    if enabled { backend::enable(&app.store, host).await } else { backend::disable(&app.store, host, reason).await }
}
